config tie_word_embeddings '"false"'
