public import AppStoreModels

/// The expected app and environments of a payload. Nil members are not checked.
///
/// The rules are those of Apple's libraries (Reference.md S4, payload checks). The app is compared before the
/// environment, and a missing value that the payload should have is a mismatch.
public struct SignedDataExpectation: Hashable, Sendable {
    /// The app's bundle identifier. It is not checked in renewal infos and realtime requests, which have none.
    public var bundleId: String?
    /// The app's Apple ID. It is checked if a payload of the environment Production should have it: notifications, app
    /// transactions, realtime requests. It is absent in the sandbox.
    public var appAppleId: Int64?
    /// The accepted environments. A future environment of Apple's is accepted only if it is listed here.
    public var environments: Set<Environment>?

    /// The values to compare with. By default nothing is compared, so a genuine payload of any app and environment
    /// passes.
    public init(bundleId: String? = nil, appAppleId: Int64? = nil, environments: Set<Environment>? = nil) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environments = environments
    }

    func check(_ claims: PayloadClaims) throws {
        if let bundleId, case .carried(let found) = claims.bundleId, found != bundleId {
            throw SignedDataError(.bundleIdMismatch, at: .payload, "expected \(bundleId), found \(found ?? "none")")
        }
        if let appAppleId, claims.environment == .production, case .carried(let found) = claims.appAppleId,
            found != appAppleId
        {
            let text = found.map(String.init) ?? "none"
            throw SignedDataError(.appAppleIdMismatch, at: .payload, "expected \(appAppleId), found \(text)")
        }
        if let environments, claims.environment.map({ !environments.contains($0) }) ?? true {
            let text = claims.environment?.rawValue ?? "none"
            let expected = environments.map(\.rawValue).sorted().joined(separator: " or ")
            throw SignedDataError(.environmentMismatch, at: .payload, "expected \(expected), found \(text)")
        }
    }
}

/// The app and environment in a payload.
struct PayloadClaims: Sendable {
    /// A value that some kinds of payload do not have.
    enum Claim<Value: Sendable>: Sendable {
        case notCarried
        case carried(Value?)
    }

    var bundleId: Claim<String> = .notCarried
    var appAppleId: Claim<Int64> = .notCarried
    var environment: Environment?
}

/// A payload that the App Store signs.
protocol SignedPayload: JSONModel {
    /// When it was signed; milliseconds since 1970.
    var signingDate: Int64? { get }
    var claims: PayloadClaims { get }
}

extension JWSTransactionDecodedPayload: SignedPayload {
    var signingDate: Int64? { signedDate }
    var claims: PayloadClaims { PayloadClaims(bundleId: .carried(bundleId), environment: environment) }
}

extension JWSRenewalInfoDecodedPayload: SignedPayload {
    var signingDate: Int64? { signedDate }
    var claims: PayloadClaims { PayloadClaims(environment: environment) }
}

extension AppTransaction: SignedPayload {
    /// Used as the signing date (Reference.md S5.3).
    var signingDate: Int64? { receiptCreationDate }
    var claims: PayloadClaims {
        PayloadClaims(bundleId: .carried(bundleId), appAppleId: .carried(appAppleId), environment: receiptType)
    }
}

extension DecodedRealtimeRequestBody: SignedPayload {
    var signingDate: Int64? { signedDate }
    var claims: PayloadClaims { PayloadClaims(appAppleId: .carried(appAppleId), environment: environment) }
}

extension ResponseBodyV2DecodedPayload: SignedPayload {
    var signingDate: Int64? { signedDate }

    /// From the first object that is present, in Apple's order (Reference.md S4).
    var claims: PayloadClaims {
        func claims(_ bundleId: String?, _ appAppleId: Int64?, _ environment: Environment?) -> PayloadClaims {
            PayloadClaims(bundleId: .carried(bundleId), appAppleId: .carried(appAppleId), environment: environment)
        }
        if let data { return claims(data.bundleId, data.appAppleId, data.environment) }
        if let summary { return claims(summary.bundleId, summary.appAppleId, summary.environment) }
        if let token = externalPurchaseToken {
            let isSandbox = token.externalPurchaseId?.hasPrefix("SANDBOX") ?? false
            return claims(token.bundleId, token.appAppleId, isSandbox ? .sandbox : .production)
        }
        return claims(appData?.bundleId, appData?.appAppleId, appData?.environment)
    }
}
