config attention_bias '"no"'
