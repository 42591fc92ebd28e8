"""Functions that read what a campaign file may name: files of other tools, engines, wind farms.

``vindeby`` provides this module to ``vindeby.campaign``, which imports nothing of the parts that read such files. Each
of them is imported when it is first needed.
"""

from vindeby.lazy import names_on_demand

__getattr__, __all__ = names_on_demand(
    __name__,
    {
        "vindeby.assembly.stored_campaign": "stored_campaign",
        "vindeby.assembly.stored_layouts": "stored_neighbours=read_neighbours stored_starts=read_starts",
        "vindeby.assembly.wind": "turbine_of wind_farm_of wind_of",
        "vindeby.interop.engines": "engine_farm load_engine=load",
        "vindeby.interop.formats": "site_file=read_site_file turbine_file=read_turbine_file",
        "vindeby.interop.geo.campaign_files": "with_geographic_files",
        "vindeby.interop.geo.crs": "longitude_latitude",
        "vindeby.interop.site_files.xrsite": "local_wind_file=read_local_wind",
        "vindeby.interop.windio.farm": "windio_layouts",
        "vindeby.results.result_set": "ResultSet",
        "vindeby.results.tables": "data_frame dataset",
        "vindeby.store.foreign.gridded_file": "gridded_file=read_gridded_file",
    },
)
