"""A figure names the code and the processor that it comes from."""

import torch

from redisc.experiments.provenance import processor, versions


def test_processors_of_one_name_are_told_apart(tmp_path):
    info = tmp_path / "cpuinfo"
    core = "processor\t: {}\ncpu family\t: 25\nmodel\t\t: {}\nmodel name\t: AMD EPYC\nstepping\t: 1\n\n"
    named = []
    for model in (1, 2):
        info.write_text(core.format(0, model) + core.format(1, 9))  # of several cores the first counts
        named.append(processor(info))
    uses = torch.backends.cpu.get_cpu_capability()
    assert named == [f"AMD EPYC 25 1 1, {uses}", f"AMD EPYC 25 2 1, {uses}"]


def test_where_the_kernel_says_nothing_there_is_a_name_all_the_same(tmp_path):
    assert not processor(tmp_path / "missing").startswith(",")


def test_versions_name_what_computes():
    found = versions()
    assert found["torch"] == torch.__version__
    assert len(found["source"]) == 12
