"""The datasets that redisc knows by name, one entry each."""

from __future__ import annotations

from redisc.datasets import downloads
from redisc.datasets.csbm import csbm
from redisc.datasets.digits import digits
from redisc.datasets.entry import Entry
from redisc.datasets.karate import karate
from redisc.datasets.minesweeper import minesweeper
from redisc.datasets.planted import planted

_PLANETOID = "Yang et al.: Revisiting semi-supervised learning with graph embeddings. ICML 2016"
_AMAZON = "Shchur et al.: Pitfalls of graph neural network evaluation. arXiv:1811.05868, 2018"
_HETEROPHILOUS = "Platonov et al.: A critical look at the evaluation of GNNs under heterophily. ICLR 2023"
_OGB = "Hu et al.: Open Graph Benchmark. NeurIPS 2020"
_KARATE = "Zachary: An information flow model for conflict and fission in small groups. 1977"
_DIGITS = "Alpaydin, Kaynak: Optical recognition of handwritten digits. UCI, 1998"
_CSBM = "Deshpande et al.: Contextual stochastic block models. NeurIPS 2018"

# Name, summary, kind, split, citation, then nodes, edges, features and classes where they are fixed.
_ENTRIES = (
    Entry("minesweeper", "cells of a board, find the mines; the benchmark's rules on a fresh board",
          "built-in", "column", _HETEROPHILOUS, 10_000, 39_402, 7, 2, generator=minesweeper),
    Entry("karate", "members of a karate club, by faction",
          "built-in", "stratified", _KARATE, 34, 78, 34, 2, generator=karate),
    Entry("digits", "images of handwritten digits, linked to their nearest neighbours",
          "built-in", "per-class", _DIGITS, 1797, None, 64, 10, generator=digits),
    Entry("csbm", "contextual stochastic block model of any size and homophily",
          "built-in", "stratified", _CSBM, generator=csbm),
    Entry("planted", "small communities, weak features and skewed degrees, up to millions of nodes",
          "built-in", "stratified", generator=planted),

    Entry("cora", "machine learning papers, by topic",
          "download", "public", _PLANETOID, 2708, 5278, 1433, 7,
          source=downloads.planetoid("cora", "Cora")),
    Entry("citeseer", "computer science papers, by topic",
          "download", "public", _PLANETOID, 3327, 4552, 3703, 6,
          source=downloads.planetoid("citeseer", "CiteSeer")),
    Entry("pubmed", "papers on diabetes, by type",
          "download", "public", _PLANETOID, 19_717, 44_324, 500, 3,
          source=downloads.planetoid("pubmed", "PubMed")),
    Entry("amazon_photo", "photo goods bought together, by category",
          "download", "per-class", _AMAZON, 7487, 119_043, 745, 8, largest_component=True,
          source=downloads.amazon("amazon_photo", "Photo")),
    Entry("amazon_computers", "computer goods bought together, by category",
          "download", "per-class", _AMAZON, 13_381, 245_778, 767, 10, largest_component=True,
          source=downloads.amazon("amazon_computers", "Computers")),
    Entry("amazon_photo_whole", "all of Photo, small components too",
          "download", "per-class", _AMAZON, 7650, 119_081, 745, 8, file="amazon_photo",
          source=downloads.amazon("amazon_photo", "Photo")),
    Entry("amazon_computers_whole", "all of Computers, small components too",
          "download", "per-class", _AMAZON, 13_752, 245_861, 767, 10, file="amazon_computers",
          source=downloads.amazon("amazon_computers", "Computers")),
    Entry("minesweeper_benchmark", "the benchmark's own Minesweeper board",
          "download", "column", _HETEROPHILOUS, 10_000, 39_402, 7, 2, file="minesweeper",
          source=downloads.heterophilous("minesweeper", "Minesweeper")),
    Entry("roman_empire", "words of an article, by syntactic role",
          "download", "column", _HETEROPHILOUS, 22_662, 32_927, 300, 18,
          source=downloads.heterophilous("roman_empire", "Roman-empire")),
    Entry("amazon_ratings", "goods bought together, by rating",
          "download", "column", _HETEROPHILOUS, 24_492, 93_050, 300, 5,
          source=downloads.heterophilous("amazon_ratings", "Amazon-ratings")),
    Entry("ogbn_arxiv", "arXiv computer science papers, by category",
          "download", "public", _OGB, 169_343, None, 128, 40,
          source=downloads.open_graph_benchmark("ogbn_arxiv", "arxiv", "time")),
    Entry("ogbn_products", "goods bought together, by category",
          "download", "public", _OGB, 2_449_029, None, 100, 47,
          source=downloads.open_graph_benchmark("ogbn_products", "products", "sales_ranking")),

    Entry("roman_empire_glove", "Roman-empire with other features: not comparable with published figures",
          "local", "column", _HETEROPHILOUS, 22_662, 32_927, 300, 18),
    Entry("arxiv_2023", "later arXiv papers, by category: a stand-in, not comparable with ogbn-arxiv",
          "local", "column", "", 33_868, 303_379, 256, 39),
)  # fmt: skip

ENTRIES: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
ALIASES: dict[str, str] = {
    "photo": "amazon_photo",
    "computers": "amazon_computers",
    "computer": "amazon_computers",
    "ratings": "amazon_ratings",
    "products": "ogbn_products",
    "zachary": "karate",
    "karate_club": "karate",
}
