start_from ../vision/qwen2_vl_two_images
edit model/config.json 's/"mlp_ratio": 2/"mlp_ratio": 1e9/'
