"""The composition root: ``parts`` makes what every run is put together from and names the backends,
``connection`` turns settings into how a job behaves on the network. Each job's ``run`` adds its own output.
"""
