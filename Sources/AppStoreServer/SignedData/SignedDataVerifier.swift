#if canImport(X509)
    public import AppStoreModels

    /// Verifies what the App Store signs as JWS: transactions, renewal infos, app transactions, notifications and realtime
    /// requests (Reference.md S4).
    ///
    /// A payload is genuine if a leaf of the App Store signed it with ES256, and if Apple's intermediate and a trusted root
    /// issued the leaf. All certificates must be valid at the time of the signature. So an old transaction stays genuine after
    /// its leaf has expired, unless a revocation check is configured.
    ///
    /// Create one verifier and keep it for all tasks, apps and environments, because it caches valid chains.
    ///
    ///     let verifier = try SignedDataVerifier()
    ///     let expected = SignedDataExpectation(bundleId: "com.example.app", environments: [.production])
    ///     let transaction = try await verifier.verifiedTransaction(jws, expecting: expected, now: now)
    public struct SignedDataVerifier: Sendable {
        let trust: SignedDataTrust
        let validator: SignedDataChainValidator
        private let revocation: (any RevocationChecking)?
        private let cache = SignedDataChainCache()

        /// - Parameters:
        ///   - trust: the trust anchors.
        ///   - revocation: checks leaf and intermediate for revocation. As in Apple's libraries, both must then also be valid
        ///     at `now`.
        /// - Throws: ``SignedDataError`` `malformedCertificate` if an additional root cannot be read.
        public init(trust: SignedDataTrust = .apple, revocation: (any RevocationChecking)? = nil) throws {
            self.trust = trust
            self.revocation = revocation
            validator = try SignedDataChainValidator(trust: trust)
        }

        /// Verifies `signedTransactionInfo`, an element of `signedTransactions`, or StoreKit 2's `jwsRepresentation`.
        ///
        /// - Parameters:
        ///   - jws: compact serialization.
        ///   - expecting: the app and environments that the payload must have.
        ///   - now: milliseconds since 1970-01-01T00:00:00Z; used only if the payload has no date, and for revocation.
        /// - Throws: ``SignedDataError``: why it is malformed, not genuine or not what was expected.
        public func verifiedTransaction(
            _ jws: String, expecting: SignedDataExpectation, now: Int64
        ) async throws -> Verified<JWSTransactionDecodedPayload> {
            try await verified(jws, expecting, now)
        }

        /// Verifies `signedRenewalInfo`. The payload does not contain the app: match it with a verified transaction by
        /// `originalTransactionId`.
        ///
        /// - Parameters:
        ///   - jws: compact serialization.
        ///   - expecting: the environments that the payload must have.
        ///   - now: as for ``verifiedTransaction(_:expecting:now:)``.
        /// - Throws: ``SignedDataError``.
        public func verifiedRenewalInfo(
            _ jws: String, expecting: SignedDataExpectation, now: Int64
        ) async throws -> Verified<JWSRenewalInfoDecodedPayload> {
            try await verified(jws, expecting, now)
        }

        /// Verifies `signedAppTransactionInfo`, or the app transaction of a device.
        ///
        /// - Parameters:
        ///   - jws: compact serialization.
        ///   - expecting: the app and environments that the payload must have.
        ///   - now: as for ``verifiedTransaction(_:expecting:now:)``.
        /// - Throws: ``SignedDataError``.
        public func verifiedAppTransaction(
            _ jws: String, expecting: SignedDataExpectation, now: Int64
        ) async throws -> Verified<AppTransaction> {
            try await verified(jws, expecting, now)
        }

        /// Verifies the `signedPayload` of a Retention Messaging request.
        ///
        /// - Parameters:
        ///   - signedPayload: compact serialization.
        ///   - expecting: the app (by Apple ID) and environments that the payload must have.
        ///   - now: as for ``verifiedTransaction(_:expecting:now:)``.
        /// - Throws: ``SignedDataError``.
        public func verifiedRealtimeRequest(
            _ signedPayload: String, expecting: SignedDataExpectation, now: Int64
        ) async throws -> Verified<DecodedRealtimeRequestBody> {
            try await verified(signedPayload, expecting, now)
        }

        /// The hits and misses of the cache of certificate chains, for the metrics of a program.
        public var chainLookups: (hits: Int, misses: Int) { cache.lookups }

        // MARK: Verification

        func verified<Payload: SignedPayload>(
            _ jws: String, _ expectation: SignedDataExpectation, _ now: Int64
        ) async throws -> Verified<Payload> {
            let (verified, chain): (Verified<Payload>, SignedDataChain) = try check(jws, expectation, now)
            try await checkRevocation(chain, now)
            return verified
        }

        private func checkRevocation(_ chain: SignedDataChain, _ now: Int64) async throws {
            guard let revocation, chain.certificates.count == 3 else { return }
            let certificates = SignedDataCertificates(
                leaf: chain.certificates[0], intermediate: chain.certificates[1], root: chain.certificates[2])
            try await revocation.status(of: certificates, now: now).check()
        }

        private func check<Payload: SignedPayload>(
            _ jws: String, _ expectation: SignedDataExpectation, _ now: Int64
        ) throws -> (Verified<Payload>, SignedDataChain) {
            var text = jws
            return try text.withUTF8 { text in
                let parts = try CompactJWSParts(text)
                let chain = try signer(of: parts)
                // Nothing in the payload is read before its signature is verified.
                let payload: Payload = try Self.decode(CompactJWSParts.bytes(parts.payload, at: .payload))
                try Self.checkEnvironment(
                    payload.claims.environment, trust, isXcodeSigner: chain.anchor == .xcode)
                let time = payload.signingDate ?? now
                try chain.check(at: time)
                if revocation != nil { try chain.check(at: now) }
                try expectation.check(payload.claims)
                let evidence = chain.evidence(at: time, over: parts.signingInput)
                return (Verified(payload: payload, evidence: evidence), chain)
            }
        }

        /// The chain whose leaf signed the parts.
        private func signer(of parts: CompactJWSParts) throws -> SignedDataChain {
            let known = cache.chain(header: parts.header)
            let chain = try known ?? chain(header: parts.header)
            let signature = try CompactJWSParts.bytes(parts.signature, at: .signature)
            guard chain.isValid(signature: signature, over: parts.signingInput) else {
                throw SignedDataError(.signatureMismatch, at: .signature)
            }
            // Anyone can create chains of Xcode's kind, which would evict the others.
            if known == nil, chain.anchor != .xcode { cache.insert(chain, header: parts.header) }
            return chain
        }

        private func chain(header: UnsafeBufferPointer<UInt8>) throws -> SignedDataChain {
            let certificates = try SignedDataHeader(CompactJWSParts.bytes(header, at: .header)).certificates
            guard certificates.count == 1 else { return try validator.validate(certificates) }
            guard trust.acceptsXcode else { throw SignedDataHeader.count(1) }
            return try validator.validate(xcode: certificates[0])
        }

        /// Xcode's data is accepted by option only. Its key is public, so it is valid for no other environment.
        static func checkEnvironment(
            _ environment: Environment?, _ trust: SignedDataTrust, isXcodeSigner: Bool
        ) throws {
            let isTest = environment == .xcode || environment == .localTesting
            if isTest, !trust.acceptsXcode { throw SignedDataError(.xcodeNotAccepted, at: .payload) }
            if isXcodeSigner, !isTest {
                throw SignedDataError(.untrustedRoot, at: .certificate(0), "Xcode signed for another environment")
            }
        }

        static func decode<Payload: SignedPayload>(_ bytes: [UInt8]) throws -> Payload {
            do {
                let value = try JSONValue.parse(bytes)
                guard value.hasUniqueNames else {
                    throw SignedDataError(.malformedPayload, at: .payload, "a member appears twice")
                }
                return try value.decode()
            } catch let error as SignedDataError {
                throw error
            } catch let error as JSONReadingError {
                throw SignedDataError(.malformedPayload, at: .payload, error.message)
            } catch let error as DecodingError {
                throw SignedDataError(.malformedPayload, at: .payload, error.sentence)
            }
        }
    }

    extension DecodingError {
        /// Which member is wrong and why, without its value.
        fileprivate var sentence: String {
            let path = context?.codingPath.map(\.stringValue).joined(separator: ".") ?? ""
            return "\(path.isEmpty ? "the payload" : path): \(context?.debugDescription ?? "it cannot be decoded")"
        }
    }

    extension SignedDataVerifier {
        /// Verifies the `signedPayload` of an App Store Server Notification version 2, and every JWS inside it.
        ///
        /// Each nested JWS must have the same app and environment as the notification.
        ///
        /// - Parameters:
        ///   - signedPayload: compact serialization.
        ///   - expecting: the app and environments that the notification must have.
        ///   - now: as for ``verifiedTransaction(_:expecting:now:)``.
        /// - Throws: ``SignedDataError``; its ``SignedDataError/member`` names the nested JWS that is not valid.
        public func verifiedNotification(
            _ signedPayload: String, expecting: SignedDataExpectation, now: Int64
        ) async throws -> VerifiedNotification {
            let (verified, chains) = try check(notification: signedPayload, expecting, now)
            for chain in chains { try await checkRevocation(chain, now) }
            return verified
        }

        private func check(
            notification signedPayload: String, _ expecting: SignedDataExpectation, _ now: Int64
        ) throws -> (VerifiedNotification, [SignedDataChain]) {
            let (notification, chain): (Verified<ResponseBodyV2DecodedPayload>, SignedDataChain) = try check(
                signedPayload, expecting, now)
            var chains = [chain]
            let payload = notification.payload
            // The Apple ID was checked in the notification. App transactions contain it too, and belong to the same
            // app.
            let inner = SignedDataExpectation(
                bundleId: payload.data?.bundleId ?? payload.appData?.bundleId, appAppleId: expecting.appAppleId,
                environments: payload.claims.environment.map { [$0] } ?? [])
            func nested<Payload: SignedPayload>(_ jws: String?, _ member: String) throws -> Verified<Payload>? {
                guard let jws else { return nil }
                do {
                    let (verified, chain): (Verified<Payload>, SignedDataChain) = try check(jws, inner, now)
                    chains.append(chain)
                    return verified
                } catch let error as SignedDataError {
                    throw error.inside(member)
                }
            }
            let verified = VerifiedNotification(
                notification: notification,
                transaction: try nested(payload.data?.signedTransactionInfo, "data.signedTransactionInfo"),
                renewalInfo: try nested(payload.data?.signedRenewalInfo, "data.signedRenewalInfo"),
                appTransaction: try nested(
                    payload.appData?.signedAppTransactionInfo, "appData.signedAppTransactionInfo"))
            return (verified, chains)
        }

        /// Verifies without the revocation check, which needs the network: any app and environment, for the time of the
        /// signature. A payload without a date is not genuine then.
        func verified<Payload: SignedPayload>(stored jws: String) throws -> Verified<Payload> {
            try check(jws, SignedDataExpectation(), 0).0
        }

        /// The same for a version 2 notification and every JWS inside it.
        func verified(storedNotification signedPayload: String) throws -> VerifiedNotification {
            try check(notification: signedPayload, SignedDataExpectation(), 0).0
        }
    }
#endif
