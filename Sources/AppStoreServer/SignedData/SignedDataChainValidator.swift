#if canImport(X509)
    /// Validates the path of leaf, intermediate and root of a JWS (Reference.md S4; RFC 5280, 6.1).
    ///
    /// The caller checks the time, so that a result can be cached: see ``SignedDataChainCache``.
    struct SignedDataChainValidator: Sendable {
        private let roots: Set<Fingerprint>
        private let additionalRoots: [SignedDataCertificate]

        /// - Throws: ``SignedDataError`` `malformedCertificate` if an additional root cannot be read.
        init(trust: SignedDataTrust) throws {
            roots = trust.roots
            additionalRoots = try trust.additionalRoots.enumerated().map { index, der in
                try SignedDataCertificate(der, at: .additionalRoot(index))
            }
        }

        /// - Parameter x5c: three certificates: leaf, intermediate, root.
        /// - Throws: ``SignedDataError``.
        func validate(_ x5c: [[UInt8]]) throws -> SignedDataChain {
            guard x5c.count == 3 else { throw SignedDataHeader.count(x5c.count) }
            let leaf = try SignedDataCertificate(x5c[0], at: .certificate(0))
            let intermediate = try SignedDataCertificate(x5c[1], at: .certificate(1))
            // Cheap checks come before the signatures.
            guard intermediate.isNamed(asIssuerOf: leaf) else {
                throw leaf.error(.certificateSignatureMismatch, "its issuer is not x5c[1]")
            }
            try leaf.checkAsLeaf()
            try intermediate.checkAsIntermediate()
            let (root, anchor) = try root(of: intermediate, embedded: x5c[2])
            guard try intermediate.signed(leaf) else { throw leaf.error(.certificateSignatureMismatch) }
            return SignedDataChain(
                key: try leaf.es256Key(), anchor: anchor, certificates: [leaf.der, intermediate.der, root.der],
                validity: try Self.validity(of: [leaf, intermediate, root]))
        }

        /// The trusted certificate that issued the intermediate. An embedded root that is not pinned proves nothing,
        /// because a forged chain contains its own root.
        func root(
            of intermediate: SignedDataCertificate, embedded: [UInt8]
        ) throws -> (SignedDataCertificate, SignatureEvidence.Anchor) {
            var candidates: [(SignedDataCertificate, SignatureEvidence.Anchor)] = []
            if roots.contains(Fingerprint(of: embedded)) {
                candidates.append((try SignedDataCertificate(embedded, at: .certificate(2)), .apple))
            }
            candidates += additionalRoots.map { ($0, .additionalRoot) }
            candidates = candidates.filter { root, _ in root.isNamed(asIssuerOf: intermediate) }
            guard !candidates.isEmpty else {
                throw intermediate.error(.untrustedRoot, "no trusted root has the name of its issuer")
            }
            for (root, anchor) in candidates where try root.signed(intermediate) {
                // The leaf follows the single intermediate that the root allows.
                try root.checkAsAuthority(intermediatesBelow: 1)
                return (root, anchor)
            }
            throw intermediate.error(.certificateSignatureMismatch)
        }

        /// Validates Xcode's single certificate. It only proves that the payload was not changed after it was signed.
        /// - Throws: ``SignedDataError``.
        func validate(xcode der: [UInt8]) throws -> SignedDataChain {
            let leaf = try SignedDataCertificate(der, at: .certificate(0))
            try leaf.checkAsSigner()
            return SignedDataChain(
                key: try leaf.es256Key(), anchor: .xcode, certificates: [der], validity: try Self.validity(of: [leaf]))
        }

        static func validity(of certificates: [SignedDataCertificate]) throws -> ClosedRange<Int64> {
            var common = Int64.min...Int64.max
            for certificate in certificates {
                guard let validity = certificate.validity, validity.overlaps(common) else {
                    throw certificate.error(.certificateExpired, "the chain was never valid as a whole")
                }
                common = validity.clamped(to: common)
            }
            return common
        }
    }
#endif
