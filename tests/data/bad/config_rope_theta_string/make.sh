config rope_theta '"x"'
