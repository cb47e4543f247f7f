"""The page of ``ctm explore``, made with NiceGUI. What it shows comes from `ctm.sim.explore.explorer` alone."""
