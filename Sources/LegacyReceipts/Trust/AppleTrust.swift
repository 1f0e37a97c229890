// Callers need Verified, its evidence and fingerprints to name the results of the verifier.
@_exported public import AppStoreTrust
