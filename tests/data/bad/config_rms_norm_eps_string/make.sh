config rms_norm_eps '"1e-5"'
