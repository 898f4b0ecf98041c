"""What the diffusion baselines are made of: noise processes, networks, samplers, and EM on label samples."""
