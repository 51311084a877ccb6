"""Extensions of other libraries, by their own extension points, that take npcompat's arrays."""
