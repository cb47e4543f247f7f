"""The page of ``ctm explore``, made with NiceGUI. Its contents come from `ctm.sim.explore.explorer` alone."""
