start_from ../vision/qwen2_vl_two_images
edit model/config.json '/mrope_section/,/]/s/3/4/'
