import AppStoreServer
import Crypto
import Foundation

/// A key made for this run of the tests.
struct SigningKey: Sendable {
    static let shared: SigningKey = {
        do {
            return try SigningKey()
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    let privatePEM: String
    let publicKey: P256.Signing.PublicKey
    let inAppPurchaseKey: InAppPurchaseKey

    init() throws {
        let key = P256.Signing.PrivateKey()
        privatePEM = key.pemRepresentation
        publicKey = key.publicKey
        inAppPurchaseKey = try InAppPurchaseKey(
            pem: key.pemRepresentation, keyID: Sample.keyID, issuerID: Sample.issuerID)
    }

    /// Header and claims of a compact JWS whose signature is good.
    func open(_ jws: String) throws -> (header: [String: any Sendable], claims: [String: any Sendable]) {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let signature = Self.decode(parts[2]), signature.count == 64 else { throw Failure.form }
        let ecdsa = try P256.Signing.ECDSASignature(rawRepresentation: signature)
        guard publicKey.isValidSignature(ecdsa, for: Data("\(parts[0]).\(parts[1])".utf8)) else {
            throw Failure.signature
        }
        return (try Self.object(parts[0]), try Self.object(parts[1]))
    }

    enum Failure: Error { case form, signature }

    static func decode(_ base64URL: String) -> Data? {
        guard !base64URL.contains(where: { "+/=".contains($0) }) else { return nil }
        let text = base64URL.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }

    private static func object(_ part: String) throws -> [String: any Sendable] {
        guard let data = decode(part),
            let object = try JSONSerialization.jsonObject(with: data) as? [String: any Sendable]
        else { throw Failure.form }
        return object
    }
}
