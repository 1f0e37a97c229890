// Who verifies receipts names what verifying gives: Verified, its evidence, fingerprints.
@_exported public import AppStoreTrust
