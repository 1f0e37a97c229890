import Crypto
import CryptoExtras
import Foundation
import LegacyReceipts

let path = CommandLine.arguments[1]
let data = [UInt8](FileManager.default.contents(atPath: path) ?? Data())
let c = try ReceiptContainer(stored: data)
let v = ReceiptVerifier()
func time(_ n: Int, _ f: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    var best = Double.infinity
    for _ in 0..<5 {
        let d = try clock.measure { for _ in 0..<n { try f() } }
        best = min(
            best, Double(d.components.attoseconds) / 1e12 / Double(n) + Double(d.components.seconds) * 1e6 / Double(n))
    }
    return best
}
print("bytes", c.bytes.count)
print("verify us", try time(2000) { _ = try v.verify(c) })
print("decode us", try time(2000) { _ = try ReceiptDecoder().decode(c) })
print("base64 strict us", try time(2000) { _ = try? ReceiptContainer(requestText: data) })
print("base64 stored us", try time(2000) { _ = try ReceiptContainer(stored: data) })
let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
let msg = [UInt8](repeating: 7, count: 1900)
let sig = try key.signature(for: Insecure.SHA1.hash(data: msg), padding: .insecurePKCS1v1_5)
let pk = key.publicKey
print(
    "floor us",
    time(2000) { _ = pk.isValidSignature(sig, for: Insecure.SHA1.hash(data: msg), padding: .insecurePKCS1v1_5) })
