#if canImport(X509)
    internal import Foundation
    internal import Synchronization
    @_spi(FixedExpiryValidationTime) internal import X509

    /// Queries the OCSP responders of leaf and intermediate (RFC 6960; Reference.md S4, online option).
    ///
    /// A chain passes only with two current answers "good", signed by the issuer or its delegate. A certificate without a
    /// responder, or an answer that cannot be verified, is ``RevocationStatus/unknown(_:)``. A missing answer is
    /// ``RevocationStatus/unavailable(_:)``, so a server can ask the App Store to retry a notification. Results are cached for
    /// some minutes, and concurrent checks of one chain share one request.
    ///
    ///     let revocation = OCSPRevocationChecker(transport: AsyncHTTPClientTransport())
    ///     let verifier = try SignedDataVerifier(revocation: revocation)
    public final class OCSPRevocationChecker: RevocationChecking {
        private let transport: any APITransport
        private let timeout: Duration
        private let verdicts: RevocationVerdicts

        /// - Parameters:
        ///   - transport: sends the requests; the API client's transport can be used.
        ///   - timeout: how long one answer may take, at most 4 seconds, because swift-certificates allows 10 seconds
        ///     for two answers.
        ///   - lifetime: how long the verdicts "good" and "revoked" are cached. Apple's libraries cache them for 15
        ///     minutes.
        public init(
            transport: any APITransport, timeout: Duration = .seconds(4), lifetime: Duration = .seconds(900)
        ) {
            self.transport = transport
            self.timeout = min(timeout, .seconds(4))
            verdicts = RevocationVerdicts(lifetime: lifetime.wholeMilliseconds)
        }

        /// Queries the OCSP responders of leaf and intermediate, unless a verdict about the chain is cached. Calls for
        /// the same chain at the same time share one query.
        ///
        /// - Parameters:
        ///   - chain: leaf, intermediate, root. A certificate that cannot be read, or that names no responder, gets
        ///     ``RevocationStatus/unknown(_:)``.
        ///   - now: milliseconds since 1970-01-01T00:00:00Z.
        public func status(of chain: SignedDataCertificates, now: Int64) async -> RevocationStatus {
            await verdicts.verdict(of: chain, now: now) { [transport, timeout] in
                await Self.ask(chain, now, OCSPQueries(transport: transport, timeout: timeout))
            }
        }

        private static func ask(
            _ chain: SignedDataCertificates, _ now: Int64, _ queries: OCSPQueries
        ) async -> RevocationStatus {
            guard let leaf = try? Certificate(derEncoded: chain.leaf),
                let intermediate = try? Certificate(derEncoded: chain.intermediate),
                let root = try? Certificate(derEncoded: chain.root)
            else { return .unknown("a certificate cannot be read") }
            for (name, certificate) in [("leaf", leaf), ("intermediate", intermediate)] {
                let access = try? certificate.extensions.authorityInformationAccess
                guard access?.contains(where: { $0.method == .ocspServer }) ?? false else {
                    return .unknown("the \(name) names no OCSP responder")
                }
            }
            let time = Date(timeIntervalSince1970: Double(now) / 1000)
            var verifier = Verifier(rootCertificates: CertificateStore([root])) {
                RFC5280Policy(fixedExpiryValidationTime: time)
                OCSPVerifierPolicy(failureMode: .hard, requester: queries, fixedExpiryValidationTime: time)
            }
            switch await verifier.validate(leaf: leaf, intermediates: CertificateStore([intermediate])) {
            case .validCertificate: return .good
            case .couldNotValidate(let failures): return status(failures, unanswered: queries.unanswered)
            }
        }

        private static func status(
            _ failures: [CertificateValidationResult.PolicyFailure], unanswered: String?
        ) -> RevocationStatus {
            if let unanswered { return .unavailable(unanswered) }
            let reasons = failures.map { $0.policyFailureReason.description }
            // The policy distinguishes the two only by its text. If the text changes, "revoked" becomes "unknown", which is
            // rejected too.
            if let revoked = reasons.first(where: { $0.contains("revoked through OCSP") }) { return .revoked(revoked) }
            return .unknown(reasons.first ?? "swift-certificates found no path to the root")
        }
    }

    /// Sends the queries of one check, and records whether one got no answer.
    private final class OCSPQueries: OCSPRequester {
        private let transport: any APITransport
        private let timeout: Duration
        private let failure = Mutex<String?>(nil)

        init(transport: any APITransport, timeout: Duration) {
            self.transport = transport
            self.timeout = timeout
        }

        /// Why an answer is missing; nil if every query was answered.
        var unanswered: String? { failure.withLock { $0 } }

        func query(request: [UInt8], uri: String) async -> OCSPRequesterQueryResult {
            // The URI is from a certificate with a valid signature. Only HTTP and HTTPS are supported.
            guard uri.hasPrefix("http://") || uri.hasPrefix("https://") else {
                return .terminalError(Unanswered(reason: "the responder's URI is not one of HTTP"))
            }
            let query = APITransportRequest(
                method: "POST", url: uri,
                headers: [("Content-Type", "application/ocsp-request"), ("Accept", "application/ocsp-response")],
                body: request, timeout: timeout, maximumResponseSize: 64 * 1024)
            do {
                let response = try await transport.send(query)
                guard response.status == 200 else { return unanswered("\(uri) answered HTTP \(response.status)") }
                return .response(response.body)
            } catch {
                return unanswered("\(uri): \(error)")
            }
        }

        /// Terminal, because a chain without an answer cannot be good.
        private func unanswered(_ reason: String) -> OCSPRequesterQueryResult {
            failure.withLock { $0 = reason }
            return .terminalError(Unanswered(reason: reason))
        }

        private struct Unanswered: Error, CustomStringConvertible {
            let reason: String
            var description: String { reason }
        }
    }
#endif
