import AppStoreModels
import AppStoreServer
import LegacyReceipts
import Migration

/// A check of an inspection, as text and JSON show it.
struct InspectedCheck {
    let name: String
    /// `passed`, `failed` or `skipped`.
    let outcome: String
    var code: String?
    var message: String?

    init(_ check: ReceiptInspection.Check) {
        name = check.name.rawValue
        switch check.outcome {
        case .passed: outcome = "passed"
        case .failed(let error): (outcome, code, message) = ("failed", error.code.rawValue, error.message)
        case .skipped(let reason): (outcome, message) = ("skipped", reason)
        }
    }

    init(_ check: SignedDataInspection.Check) {
        name = check.name.rawValue
        switch check.outcome {
        case .passed: outcome = "passed"
        case .failed(let error): (outcome, code, message) = ("failed", error.code.rawValue, error.message)
        case .skipped(let reason): (outcome, message) = ("skipped", reason)
        }
    }

    init(_ check: RecordedInspection.Check) {
        name = check.name.rawValue
        outcome = check.failure == nil ? "passed" : "failed"
        message = check.failure
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("check", name)
        writer.member("outcome", outcome)
        writer.member("code", code)
        writer.member("message", message)
    }

    /// - Parameter width: the width of the name before a message.
    func line(width: Int) -> String {
        let start = "  " + (outcome == "failed" ? "FAILED" : outcome).padded(to: 9)
        return message.map { start + name.padded(to: width) + Printable.text($0) } ?? start + name
    }
}
