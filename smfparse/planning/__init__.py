"""Capacity: typed functions from figures to figures, with IBM's published points. No SMF, no I/O.

In: numbers, or the inputs of a planner. Out: a `Plan`, whose figures have their formulas, sources,
valid range and limitations. Published tables are read as package data
through `published` alone; nothing here knows a file or a query.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.planning.asking import Ask as Ask
    from smfparse.planning.asking import Asked as Asked
    from smfparse.planning.asking import Wanted as Wanted
    from smfparse.planning.asking import wanted as wanted
    from smfparse.planning.batches import batch_rate as batch_rate
    from smfparse.planning.batches import client_flows as client_flows
    from smfparse.planning.batches import least_gain as least_gain
    from smfparse.planning.batches import message_us as message_us
    from smfparse.planning.batches import most_in_a_batch as most_in_a_batch
    from smfparse.planning.cf import data_set_buffers as data_set_buffers
    from smfparse.planning.cf import message_bytes as message_bytes
    from smfparse.planning.cf import offload_kb as offload_kb
    from smfparse.planning.cf import smds_pages as smds_pages
    from smfparse.planning.cf import structure_mb as structure_mb
    from smfparse.planning.channels import channels_in as channels_in
    from smfparse.planning.channels import chin_kb as chin_kb
    from smfparse.planning.channels import usable_mb as usable_mb
    from smfparse.planning.cluster import drain_s as drain_s
    from smfparse.planning.compression import break_even as break_even
    from smfparse.planning.compression import compression_chunks as compression_chunks
    from smfparse.planning.compression import compression_figure as compression_figure
    from smfparse.planning.compression import compression_us as compression_us
    from smfparse.planning.concentrator import break_even_messages as break_even_messages
    from smfparse.planning.concentrator import chin_ratio as chin_ratio
    from smfparse.planning.concentrator import printed_total as printed_total
    from smfparse.planning.concentrator import saved_cpu_s as saved_cpu_s
    from smfparse.planning.concentrator import transaction_parts as transaction_parts
    from smfparse.planning.connections import connections_in as connections_in
    from smfparse.planning.connections import storage_mb as storage_mb
    from smfparse.planning.cpu import busy_percent as busy_percent
    from smfparse.planning.cpu import cost_after as cost_after
    from smfparse.planning.cpu import engine_ratio as engine_ratio
    from smfparse.planning.cpu import improvement as improvement
    from smfparse.planning.cpu import mips as mips
    from smfparse.planning.cpu import msu_hours as msu_hours
    from smfparse.planning.expiry import depths as depths
    from smfparse.planning.expiry import expire_s as expire_s
    from smfparse.planning.expiry import scan_s as scan_s
    from smfparse.planning.log import IoTime as IoTime
    from smfparse.planning.log import disk_mb as disk_mb
    from smfparse.planning.log import estimated_bytes as estimated_bytes
    from smfparse.planning.log import io_line as io_line
    from smfparse.planning.log import io_rate as io_rate
    from smfparse.planning.log import mb_of_pages as mb_of_pages
    from smfparse.planning.log import messages_a_second as messages_a_second
    from smfparse.planning.log import rate_at_full as rate_at_full
    from smfparse.planning.mft import acknowledgements as acknowledgements
    from smfparse.planning.mft import checkpoint_mb as checkpoint_mb
    from smfparse.planning.mft import rate_bound as rate_bound
    from smfparse.planning.mft import state_updates as state_updates
    from smfparse.planning.mft import transfer_figure as transfer_figure
    from smfparse.planning.mft import transfer_rows as transfer_rows
    from smfparse.planning.mft import unacknowledged as unacknowledged
    from smfparse.planning.pages import data_buffers as data_buffers
    from smfparse.planning.pages import message_pages as message_pages
    from smfparse.planning.pages import page_set_pages as page_set_pages
    from smfparse.planning.pages import pool_floor as pool_floor
    from smfparse.planning.pages import seconds_to as seconds_to
    from smfparse.planning.plans import Figure as Figure
    from smfparse.planning.plans import Plan as Plan
    from smfparse.planning.plans import Planner as Planner
    from smfparse.planning.publications import between as between
    from smfparse.planning.publications import published as published
    from smfparse.planning.publications import published_names as published_names
    from smfparse.planning.publications import source as source
    from smfparse.planning.registry import asked_of as asked_of
    from smfparse.planning.registry import plan_of as plan_of
    from smfparse.planning.registry import plan_of_measured as plan_of_measured
    from smfparse.planning.registry import planned as planned
    from smfparse.planning.registry import planner as planner
    from smfparse.planning.registry import planner_names as planner_names
    from smfparse.planning.slopes import LEAST_POINTS as LEAST_POINTS
    from smfparse.planning.slopes import Slope as Slope
    from smfparse.planning.slopes import plan_within as plan_within
    from smfparse.planning.slopes import slope as slope
    from smfparse.planning.slopes import too_few as too_few
    from smfparse.planning.smf import gathering_us as gathering_us
    from smfparse.planning.smf import queue_records as queue_records
    from smfparse.planning.smf import writing_us as writing_us
    from smfparse.planning.streaming import put_ratio as put_ratio
    from smfparse.planning.streaming import put_us as put_us
    from smfparse.planning.tls import avoided_percent as avoided_percent
    from smfparse.planning.tls import key_ms as key_ms
    from smfparse.planning.tls import key_us_a_message as key_us_a_message
    from smfparse.planning.words import said as said
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        asking="Ask Asked Wanted wanted",
        batches="batch_rate client_flows least_gain message_us most_in_a_batch",
        cf="data_set_buffers message_bytes offload_kb smds_pages structure_mb",
        channels="channels_in chin_kb usable_mb",
        cluster="drain_s",
        compression="break_even compression_chunks compression_figure compression_us",
        concentrator="break_even_messages chin_ratio printed_total saved_cpu_s transaction_parts",
        connections="connections_in storage_mb",
        cpu="busy_percent cost_after engine_ratio improvement mips msu_hours",
        expiry="depths expire_s scan_s",
        log=(
            "IoTime disk_mb estimated_bytes io_line "
            "io_rate mb_of_pages messages_a_second rate_at_full"
        ),
        mft=(
            "acknowledgements checkpoint_mb rate_bound "
            "state_updates transfer_figure transfer_rows unacknowledged"
        ),
        pages="data_buffers message_pages page_set_pages pool_floor seconds_to",
        plans="Figure Plan Planner",
        publications="between published published_names source",
        registry="asked_of plan_of plan_of_measured planned planner planner_names",
        slopes="LEAST_POINTS Slope plan_within slope too_few",
        smf="gathering_us queue_records writing_us",
        streaming="put_ratio put_us",
        tls="avoided_percent key_ms key_us_a_message",
        words="said",
    )
