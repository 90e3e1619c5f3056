"""How inputs are cut for several processes."""

from __future__ import annotations

from smfparse.decoding.arrow import Wanted
from smfparse.inputs.opening import Inputs
from smfparse.inputs.parallel import Unit


def cut(inputs: Inputs, wanted: Wanted, *, ahead: bool = True) -> list[Unit]:
    """Return the units that processes decode; none where one process does."""
    workers = inputs.workers(inputs.sources, wanted)
    if workers is None:
        return []
    with workers:
        return inputs.units(inputs.sources, wanted, workers, ahead=ahead)
