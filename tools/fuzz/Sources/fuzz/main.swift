import CFuzzer
import Foundation
import LegacyReceipts
import ReceiptForge

/// The checks of every input. A trap or a failed check ends the run.
struct Target: Sendable {
    private let decoder = ReceiptDecoder()
    private let apple = ReceiptVerifier()
    private let test: ReceiptVerifier
    /// The content of the forge's genuine receipts. No other content may be accepted from the test authority.
    private let genuine: Set<String>

    init() throws {
        test = try ReceiptVerifier(
            trust: TrustPolicy(
                roots: [], additionalRoots: [try TestCertificateAuthority.rootDER],
                transactionReceiptLeaves: Set(
                    try TestCertificateAuthority.transactionReceiptLeavesDER.map { Fingerprint(of: $0) })))
        var genuine: Set<String> = []
        for forged in try ForgedCase.all(largePurchaseCount: 0) {
            if let verified = try? test.verify(stored: forged.bytes) { genuine.insert(Self.name(of: verified.payload)) }
        }
        self.genuine = genuine
    }

    private static func name(of receipt: LegacyReceipt) -> String {
        switch receipt {
        case .app(let app):
            "\(app.bundleId) \(app.receiptType?.rawValue ?? "") \(app.receiptCreationDate ?? 0) "
                + app.inAppPurchases
                .map { "\($0.productId) \($0.transactionId) \($0.expiresDate ?? 0) \($0.cancellationDate ?? 0)" }
                .joined(separator: ",")
        case .transaction(let transaction): String(decoding: transaction.purchaseInfoBytes, as: UTF8.self)
        }
    }

    func run(_ bytes: [UInt8]) {
        let decoded = try? decoder.decode(stored: bytes)
        if let verified = try? apple.verify(stored: bytes) { expect(verified.evidence.anchor != .xcode, "Xcode") }
        let verified = try? test.verify(stored: bytes)
        if let verified {
            expect(decoded?.payload == verified.payload, "verified and decoded receipts differ")
            expect(genuine.contains(Self.name(of: verified.payload)), "accepted with changed content")
            if case .transaction(let receipt) = verified.payload, receipt.hasSandboxTransactionId {
                expect(receipt.environment == .sandbox, "a sandbox purchase became one of production")
            }
        }
        if let container = try? ReceiptContainer(stored: bytes) {
            let inspection = test.inspect(container)
            expect((try? inspection.verdict.get()) == verified?.evidence, "inspection and verdict differ")
        }
        if let strict = try? ReceiptContainer(requestText: bytes) {
            expect((try? ReceiptContainer(stored: bytes))?.bytes == strict.bytes, "strict and lenient base64 differ")
        }
    }

    private func expect(_ condition: Bool, _ promise: String) {
        // libFuzzer keeps the input that ended the process.
        guard condition else { fatalError("broken promise: \(promise)") }
    }
}

// A C function cannot capture values, so the target is global.
enum Shared {
    static let target = Result { try Target() }
}

// `fuzz-receipts seeds OUTPUT-FOLDER [FOLDER-OF-RECEIPTS ...]` writes the seed corpus. All other arguments go to
// libFuzzer.
if CommandLine.arguments.count > 2, CommandLine.arguments[1] == "seeds" {
    try Seeds(writingTo: CommandLine.arguments[2]).write(receiptsIn: CommandLine.arguments.dropFirst(3))
    exit(0)
}
_ = try Shared.target.get()
var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { start, count in
        if case .success(let target) = Shared.target {
            target.run(Array(UnsafeBufferPointer(start: start, count: count)))
        }
        return 0
    })
