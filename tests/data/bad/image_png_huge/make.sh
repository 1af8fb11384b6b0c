start_from ../vision/qwen2_vl_two_images
cp "$goldens/../images/rgb_up.png" picture.png
cp "$goldens/../images/preprocessor_config.json" model/
edit model/preprocessor_config.json "s/\"temporal_patch_size\": 1/\"temporal_patch_size\": 2/"
{ head -c 16 "$goldens/../images/rgb_up.png"; printf "\000\000\377\377\000\000\377\377\010\002\000\000\000\071\147\116\007"; tail -c +34 "$goldens/../images/rgb_up.png"; } >picture.png
