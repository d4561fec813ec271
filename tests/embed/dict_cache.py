"""A vector cache in memory."""


class DictCache:
    def __init__(self):
        self.kept = {}

    def cached_vectors(self, model, hashes):
        return {key: self.kept[model, key] for key in hashes if (model, key) in self.kept}

    def present_vectors(self, model, hashes):
        return {key for key in hashes if (model, key) in self.kept}

    def keep_vectors(self, model, vectors):
        self.kept |= {(model, key): vector for key, vector in vectors.items()}
