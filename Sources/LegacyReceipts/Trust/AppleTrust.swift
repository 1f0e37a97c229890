// Exports the types of the verifier's results: Verified, its evidence, and fingerprints.
@_exported public import AppStoreTrust
