"""`python -m redisc` is the command `redisc`."""

from redisc.cli import main

main()
