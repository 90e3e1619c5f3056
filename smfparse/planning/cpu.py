"""The cost of CPU on another machine, in MSU hours and in MIPS."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from smfparse.planning.plans import Ask, Asked, Figure, Planner, published, said, source

_GENERATIONS = ("", "z14-z15", "z15-z16")
_WORKLOADS = ("LOW", "AVERAGE", "HIGH")


def engine_ratio(source_itr: float, source_cps: int, target_itr: float, target_cps: int) -> float:
    """Return the speed of a target processor divided by the speed of a source processor."""
    return (target_itr / target_cps) / (source_itr / source_cps)


def busy_percent(cpu_ms_a_second: float, cps: int) -> float:
    """Return the busy percentage of `cps` processors."""
    return cpu_ms_a_second / (1000 * cps) * 100


def improvement(generation: str, cps: str, workload: str) -> float:
    """Return the additional throughput per processor of the newer machine, in %.

    generation  z14-z15, z15-z16; cps  3, 16, 32; workload  LOW, AVERAGE, HIGH
    """
    rows = published("lspr_mq_papers")[generation.replace("-", "->")]
    return float(rows[cps][_WORKLOADS.index(workload)])


def cost_after(cost: float, percent: float) -> float:
    """Return a cost on a machine whose throughput is `percent` higher."""
    return cost / (1 + percent / 100)


def msu_hours(cpu_seconds: float, msu: float, cps: int) -> float:
    """Return the MSU hours of CPU seconds on a machine with `msu` MSU and `cps` processors."""
    return cpu_seconds / 3600 * msu / cps


def mips(cpu_seconds: float, seconds: float, mips_of_machine: float, cps: int) -> float:
    """Return the average MIPS of `cpu_seconds` in `seconds`."""
    return cpu_seconds * mips_of_machine / cps / seconds


@dataclass(frozen=True)
class Cpu(Asked):
    """Inputs; the defaults are the examples of the reports."""

    cost_us: Annotated[
        float,
        Ask(
            "Current CPU per call or message",
            "us",
            measured="CPU over calls of all verbs, in wqst and wtas",
        ),
    ] = 100
    cpu_ms_a_second: Annotated[
        float,
        Ask(
            "Current CPU",
            "ms per second",
            measured="CPU of all verbs in wqst and wtas over the time",
        ),
    ] = 640
    source_itr: Annotated[float, Ask("ITR of the current machine", low=0.001)] = 4.15
    source_cps: Annotated[int, Ask("Processors of the current machine", low=1, high=400)] = 3
    target_itr: Annotated[float, Ask("ITR of the other machine", low=0.001)] = 2.72
    target_cps: Annotated[int, Ask("Processors of the other machine", low=1, high=400)] = 3
    generation: Annotated[
        str, Ask("Published ratio of two machine generations, instead of ITRs", among=_GENERATIONS)
    ] = ""
    lspr_cps: Annotated[
        str, Ask("Processors of the published LSPR table", among=("3", "16", "32"))
    ] = "3"
    workload: Annotated[str, Ask("Workload of the published LSPR table", among=_WORKLOADS)] = (
        "AVERAGE"
    )
    msu: Annotated[float | None, Ask("MSU of the current machine", low=0.1)] = None
    mips: Annotated[float | None, Ask("MIPS of the current machine", low=0.1)] = None


def _figures(asked: Cpu) -> Sequence[Figure]:
    ratio, formula = _ratio(asked)
    ms = asked.cpu_ms_a_second
    cps = asked.source_cps
    found = [
        Figure(
            "ratio",
            "Processor speed relative to the current machine",
            ratio,
            "",
            formula,
            3,
        ),
        Figure(
            *("cost_us", "CPU per call on the other machine", asked.cost_us / ratio, "us"),
            *(f"{said(asked.cost_us)} / {said(ratio)}", 2),
        ),
        Figure(
            *("busy_percent", "Processors busy on the current machine", busy_percent(ms, cps), "%"),
            *(f"{said(ms)} / (1000 x {cps}) x 100", 2),
        ),
        Figure(
            *(
                "busy_there_percent",
                "Processors busy on the other machine",
                _target_busy(asked, ratio),
                "%",
            ),
            *(f"{said(ms)} / {said(ratio)} / (1000 x {asked.target_cps}) x 100", 2),
        ),
    ]
    if asked.msu is not None:
        hours = msu_hours(ms * 3.6, asked.msu, cps)
        formula = f"{said(ms)} x 3.6 / 3600 x {said(asked.msu)} / {cps}"
        found.append(Figure("msu_hours", "MSU hours per hour", hours, "MSU-h", formula, 4))
    if asked.mips is not None:
        formula = f"{said(ms)} / 1000 x {said(asked.mips)} / {cps}"
        found.append(Figure("mips", "MIPS", mips(ms, 1000, asked.mips, cps), "MIPS", formula, 2))
    return found


def _ratio(asked: Cpu) -> tuple[float, str]:
    if asked.generation:
        percent = improvement(asked.generation, asked.lspr_cps, asked.workload)
        return 1 + percent / 100, f"1 + {percent:g}%"
    ratio = engine_ratio(asked.source_itr, asked.source_cps, asked.target_itr, asked.target_cps)
    target, current = (asked.target_itr, asked.target_cps), (asked.source_itr, asked.source_cps)
    return ratio, f"({target[0]:g} / {target[1]}) / ({current[0]:g} / {current[1]})"


def _target_busy(asked: Cpu, ratio: float) -> float:
    return busy_percent(asked.cpu_ms_a_second / ratio, asked.target_cps)


PLANNER = Planner(
    "cpu",
    "CPU cost of MQ on another machine",
    Cpu,
    _figures,
    (
        "MQFTE V7.0.1 for System z, 2009: ITR 4.15 and 2.72 on 3 processors: ratio 0.655; 640 ms "
        "per second on 3 processors are 21.33%",
        source("lspr_mq_papers"),
    ),
    "The same MQ release, message mix and message size. Only CPU time scales, not waits for disks. "
    "On z16, 36.9% of small benchmarks reached the LSPR ratio, and 77.8% used less CPU than "
    "before. "
    "With more than 6 processors, the cost can be up to 3.5% higher.",
    (
        "CPU of the tasks of MSTR, of TCP/IP and of the application: see SMF 30 and RMF",
        "CPU that ran on zIIPs",
    ),
    "START TRACE(ACCTG) CLASS(3)",
)
