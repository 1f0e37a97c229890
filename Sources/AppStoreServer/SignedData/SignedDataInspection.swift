package import AppStoreModels

/// The content of one JWS and the result of each check, for support tools. ``verdict`` is the result of
/// ``SignedDataVerifier``; use it for decisions.
package struct SignedDataInspection: Sendable {
    /// One check and its outcome.
    package struct Check: Sendable {
        /// A check, in the order of the report.
        package enum Name: String, Sendable, CaseIterable {
            /// Three parts, and a header that states ES256.
            case header
            /// The certificates of `x5c` can be read.
            case certificates
            /// The certificates are issued one by the next, up to a trusted root.
            case chain
            case trustedRoot
            /// Marker, constraints and key usage of the signer's certificate.
            case leafCertificate
            /// Marker, constraints and key usage of its issuer.
            case intermediateCertificate
            case signature
            /// The payload is JSON of its kind.
            case payload
            case environment
            /// All certificates were valid at the signed date.
            case dates
            case bundleId
            /// Each JWS inside a notification.
            case nestedData
        }

        package enum Outcome: Sendable {
            case passed
            case failed(SignedDataError)
            /// The check was not made, and why.
            case skipped(String)
        }

        package let name: Name
        package let outcome: Outcome
    }

    /// A certificate of `x5c`. It is not necessarily trusted.
    package struct CertificateFacts: Sendable {
        /// Its index in `x5c`, from 0.
        package let index: Int
        package let subject: String
        package let issuer: String
        /// In upper-case hexadecimal.
        package let serialNumber: String
        /// Valid from and until, in milliseconds since 1970-01-01T00:00:00Z; nil if the end is before the start.
        package let validity: ClosedRange<Int64>?
        /// SHA-256 of its DER.
        package let fingerprint: Fingerprint
    }

    /// Nil if the payload is of no known kind, or cannot be read.
    package let kind: SignedDataKind?
    /// The size of the text in bytes.
    package let byteCount: Int
    /// The decoded payload, unverified; nil if it is not a JSON object.
    package let payload: Unverified<JSONObject>?
    package let certificates: [CertificateFacts]
    package let checks: [Check]
    /// The JWS inside a notification, each with its member.
    package let nested: [(member: String, inspection: SignedDataInspection)]
    /// Why it is trusted, or why it is rejected.
    package let verdict: Result<SignatureEvidence, SignedDataError>

    package var isGenuine: Bool { error == nil }

    /// Why it is rejected.
    package var error: SignedDataError? {
        if case .failure(let error) = verdict { error } else { nil }
    }
}

#if canImport(X509)
    extension SignedDataVerifier {
        /// Inspects a JWS with every check, and continues where verification would stop. Like for stored data, the
        /// certificates must be valid at the date of the signature; they may have expired since.
        /// - Parameters:
        ///   - jws: compact serialization.
        ///   - bundleId: the app that the payload must have; nil for any app.
        package func inspect(_ jws: String, bundleId: String? = nil) -> SignedDataInspection {
            inspect(jws, bundleId: bundleId, isNested: false)
        }

        private func inspect(_ jws: String, bundleId: String?, isNested: Bool) -> SignedDataInspection {
            var inspector = Inspector(trust: trust, validator: validator)
            inspector.inspect(jws)
            var nested: [(member: String, inspection: SignedDataInspection)] = []
            // A JWS in a notification contains no further one, so the depth does not depend on the input.
            if inspector.kind == .notification, !isNested {
                let app = inspector.appOfNotification
                for (member, text) in inspector.nestedData {
                    nested.append((member, inspect(text, bundleId: app, isNested: true)))
                }
                inspector.outcomes[.nestedData] =
                    nested.first { !$0.inspection.isGenuine }.map {
                        .failed(
                            $0.inspection.error?.inside($0.member) ?? SignedDataError(.malformedPayload, in: $0.member))
                    } ?? (nested.isEmpty ? .skipped("the notification contains none") : .passed)
            }
            let verdict = verdict(jws, inspector, bundleId)
            inspector.checkBundleId(bundleId)
            return SignedDataInspection(
                kind: inspector.kind, byteCount: jws.utf8.count,
                payload: inspector.payload.map { Unverified(payload: $0) },
                certificates: inspector.certificates.map(SignedDataInspection.CertificateFacts.init),
                checks: SignedDataInspection.Check.Name.allCases.compactMap { name in
                    inspector.outcomes[name].map { SignedDataInspection.Check(name: name, outcome: $0) }
                }, nested: nested, verdict: verdict)
        }

        private func verdict(
            _ jws: String, _ inspector: Inspector, _ bundleId: String?
        ) -> Result<SignatureEvidence, SignedDataError> {
            func evidence<Payload: SignedPayload>(_ verified: Verified<Payload>) throws -> SignatureEvidence {
                try SignedDataExpectation(bundleId: bundleId).check(verified.payload.claims)
                return verified.evidence
            }
            do {
                // Xcode's JWS have only one certificate, which would give a misleading error.
                if !trust.acceptsXcode, let payload = inspector.payload, SignedDataKind.isOfXcode(payload) {
                    throw SignedDataError(.xcodeNotAccepted, at: .payload)
                }
                switch inspector.kind {
                case .transaction:
                    return .success(try evidence(verified(stored: jws) as Verified<JWSTransactionDecodedPayload>))
                case .renewalInfo:
                    return .success(try evidence(verified(stored: jws) as Verified<JWSRenewalInfoDecodedPayload>))
                case .appTransaction:
                    return .success(try evidence(verified(stored: jws) as Verified<AppTransaction>))
                case .notification: return .success(try evidence(verified(storedNotification: jws).notification))
                case nil:
                    throw inspector.firstError ?? SignedDataError(.malformedPayload, at: .payload, Inspector.otherKind)
                }
            } catch {
                let failure = SignedDataError(.malformedPayload, at: .payload, "\(error)")
                return .failure(error as? SignedDataError ?? failure)
            }
        }
    }

    extension SignedDataInspection.CertificateFacts {
        fileprivate init(_ certificate: SignedDataCertificate) {
            if case .certificate(let place) = certificate.location { index = place } else { index = 0 }
            subject = certificate.certificate.subject.description
            issuer = certificate.certificate.issuer.description
            serialNumber = Printable.hex(certificate.certificate.serialNumber.bytes).uppercased()
            validity = certificate.validity
            fingerprint = Fingerprint(of: certificate.der)
        }
    }

    /// Runs the checks one by one, with the functions of the verifier.
    private struct Inspector {
        typealias Name = SignedDataInspection.Check.Name

        static let otherKind = "it is not a transaction, renewal info, app transaction or notification"

        let trust: SignedDataTrust
        let validator: SignedDataChainValidator
        var kind: SignedDataKind?
        var payload: JSONObject?
        var certificates: [SignedDataCertificate] = []
        var outcomes: [Name: SignedDataInspection.Check.Outcome] = [:]
        private var claims: PayloadClaims?

        init(trust: SignedDataTrust, validator: SignedDataChainValidator) {
            self.trust = trust
            self.validator = validator
        }

        var firstError: SignedDataError? {
            for name in Name.allCases { if case .failed(let error)? = outcomes[name] { return error } }
            return nil
        }

        private mutating func check<Value>(_ name: Name, _ body: () throws -> Value) -> Value? {
            do {
                let value = try body()
                if outcomes[name] == nil { outcomes[name] = .passed }
                return value
            } catch {
                outcomes[name] = .failed(error as? SignedDataError ?? SignedDataError(.malformedPayload, "\(error)"))
                return nil
            }
        }

        private mutating func skip(_ names: [Name], _ reason: String) {
            for name in names where outcomes[name] == nil { outcomes[name] = .skipped(reason) }
        }

        mutating func inspect(_ jws: String) {
            var jws = jws
            jws.withUTF8 { text in
                guard let parts = check(.header, { try CompactJWSParts(text) }) else {
                    return skip(Name.allCases.filter { $0 != .nestedData }, "the text is not a JWS")
                }
                let date = inspectPayload(parts)
                inspectSigner(parts, date)
            }
        }

        // MARK: Payload

        /// Returns the signed date.
        private mutating func inspectPayload(_ parts: CompactJWSParts) -> Int64? {
            guard let content = check(.payload, { try CompactJWSParts.bytes(parts.payload, at: .payload) }) else {
                skip([.environment, .dates, .bundleId], "the payload cannot be read")
                return nil
            }
            payload = (try? JSONValue.parse(content))?.object
            kind = payload.flatMap { SignedDataKind(payload: $0) }
            let read = check(.payload) { [kind] in
                switch kind {
                case .transaction: try Self.claims(content, JWSTransactionDecodedPayload.self)
                case .renewalInfo: try Self.claims(content, JWSRenewalInfoDecodedPayload.self)
                case .appTransaction: try Self.claims(content, AppTransaction.self)
                case .notification: try Self.claims(content, ResponseBodyV2DecodedPayload.self)
                case nil: throw SignedDataError(.malformedPayload, at: .payload, Self.otherKind)
                }
            }
            guard let read else {
                skip([.environment, .dates, .bundleId], "the payload cannot be read")
                return nil
            }
            claims = read.claims
            return read.date
        }

        private static func claims<Payload: SignedPayload>(
            _ content: [UInt8], _: Payload.Type
        ) throws -> (claims: PayloadClaims, date: Int64?) {
            let payload: Payload = try SignedDataVerifier.decode(content)
            return (payload.claims, payload.signingDate)
        }

        mutating func checkBundleId(_ expected: String?) {
            guard let claims else { return }
            guard case .carried = claims.bundleId else { return skip([.bundleId], "a renewal info has no bundle id") }
            guard let expected else { return skip([.bundleId], "no bundle id was given") }
            _ = check(.bundleId) { try SignedDataExpectation(bundleId: expected).check(claims) }
        }

        // MARK: Notifications

        var appOfNotification: String? {
            if case .carried(let bundleId)? = claims?.bundleId { bundleId } else { nil }
        }

        var nestedData: [(String, String)] {
            [
                ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"),
                ("appData", "signedAppTransactionInfo"),
            ].compactMap { object, member in
                payload?[object]?[member]?.string.map { ("\(object).\(member)", $0) }
            }
        }

        // MARK: Signer

        private mutating func inspectSigner(_ parts: CompactJWSParts, _ date: Int64?) {
            let rest: [Name] = [.chain, .trustedRoot, .leafCertificate, .intermediateCertificate, .signature, .dates]
            let header = check(.header) {
                try SignedDataHeader(CompactJWSParts.bytes(parts.header, at: .header))
            }
            guard let header else {
                return skip([.certificates, .environment] + rest, "the signer's certificate is not known")
            }
            let found = check(.certificates) {
                try header.certificates.enumerated().map { place, der in
                    try SignedDataCertificate(der, at: .certificate(place))
                }
            }
            guard let found, let leaf = found.first else {
                return skip([.environment] + rest, "the certificates cannot be read")
            }
            certificates = found
            var path = found
            if found.count == 3 {
                path = inspectChain(leaf, found[1], root: found[2])
            } else {
                skip([.chain, .intermediateCertificate], "Xcode signs with one certificate of its own")
                _ = check(.leafCertificate) { try leaf.checkAsSigner() }
                _ = check(.trustedRoot) { [trust] in
                    guard trust.acceptsXcode else { throw SignedDataHeader.count(found.count) }
                }
            }
            inspectEnvironment(isXcodeSigner: found.count == 1)
            _ = check(.signature) {
                let signature = try CompactJWSParts.bytes(parts.signature, at: .signature)
                let signer = SignedDataChain(
                    key: try leaf.es256Key(), anchor: .additionalRoot, certificates: [leaf.der], validity: 0...0)
                guard signer.isValid(signature: signature, over: parts.signingInput) else {
                    throw SignedDataError(.signatureMismatch, at: .signature)
                }
            }
            guard let date else { return skip([.dates], "the payload has no date for which to check the certificates") }
            _ = check(.dates) {
                let validity = try SignedDataChainValidator.validity(of: path)
                try SignedDataChain(
                    key: try leaf.es256Key(), anchor: .additionalRoot, certificates: [leaf.der], validity: validity
                ).check(at: date)
            }
        }

        private mutating func inspectChain(
            _ leaf: SignedDataCertificate, _ intermediate: SignedDataCertificate, root: SignedDataCertificate
        ) -> [SignedDataCertificate] {
            _ = check(.leafCertificate) { try leaf.checkAsLeaf() }
            _ = check(.intermediateCertificate) { try intermediate.checkAsIntermediate() }
            let trusted = check(.trustedRoot) { [validator] in
                try validator.root(of: intermediate, embedded: root.der).0
            }
            _ = check(.chain) {
                guard intermediate.isNamed(asIssuerOf: leaf) else {
                    throw leaf.error(.certificateSignatureMismatch, "its issuer is not x5c[1]")
                }
                guard try intermediate.signed(leaf) else { throw leaf.error(.certificateSignatureMismatch) }
            }
            // The trusted root can differ from the embedded one.
            return [leaf, intermediate, trusted ?? root]
        }

        private mutating func inspectEnvironment(isXcodeSigner: Bool) {
            guard let claims else { return }
            _ = check(.environment) { [trust] in
                try SignedDataVerifier.checkEnvironment(claims.environment, trust, isXcodeSigner: isXcodeSigner)
            }
        }
    }
#endif
