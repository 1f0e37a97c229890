#if canImport(X509)
    internal import AppStoreModels

    extension SignedDataVerifier {
        /// Verifies the `signedPayload` of an App Store Server Notification version 2, and every JWS inside of it.
        ///
        /// What is signed inside must be of the same app and environment as the notification itself.
        ///
        /// - Parameters:
        ///   - signedPayload: compact serialization.
        ///   - expecting: the app and environments that the notification must be of.
        ///   - now: as for ``verifiedTransaction(_:expecting:now:)``.
        /// - Throws: ``SignedDataError``; its ``SignedDataError/member`` names the JWS inside that is at fault.
        public func verifiedNotification(
            _ signedPayload: String, expecting: SignedDataExpectation, now: Int64
        ) async throws -> VerifiedNotification {
            let notification: Verified<ResponseBodyV2DecodedPayload> = try await verified(signedPayload, expecting, now)
            let payload = notification.payload
            // The Apple ID was checked in the notification; app transactions carry one too, and it is the same app.
            let inner = SignedDataExpectation(
                bundleId: payload.data?.bundleId ?? payload.appData?.bundleId, appAppleId: expecting.appAppleId,
                environments: payload.claims.environment.map { [$0] } ?? [])
            return VerifiedNotification(
                notification: notification,
                transaction: try await nested(
                    payload.data?.signedTransactionInfo, "data.signedTransactionInfo", inner, now),
                renewalInfo: try await nested(payload.data?.signedRenewalInfo, "data.signedRenewalInfo", inner, now),
                appTransaction: try await nested(
                    payload.appData?.signedAppTransactionInfo, "appData.signedAppTransactionInfo", inner, now))
        }

        private func nested<Payload: SignedPayload>(
            _ jws: String?, _ member: String, _ expectation: SignedDataExpectation, _ now: Int64
        ) async throws -> Verified<Payload>? {
            guard let jws else { return nil }
            do { return try await verified(jws, expectation, now) } catch let error as SignedDataError {
                throw error.inside(member)
            }
        }
    }
#endif
