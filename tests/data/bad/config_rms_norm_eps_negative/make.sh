config rms_norm_eps -1
