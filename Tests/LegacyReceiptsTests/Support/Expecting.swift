import LegacyReceipts
import Testing

/// The error that a refusal throws; records an issue and gives nil when there is none, or another.
@discardableResult
func expectRefusal(
    _ code: ReceiptError.Code, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) -> ReceiptError? {
    do {
        _ = try body()
        Issue.record("accepted, where \(code) was expected. \(comment ?? "")", sourceLocation: sourceLocation)
    } catch let error as ReceiptError {
        #expect(error.code == code, "\(error.message) \(comment ?? "")", sourceLocation: sourceLocation)
        if error.code == code { return error }
    } catch {
        Issue.record("\(error) \(comment ?? "")", sourceLocation: sourceLocation)
    }
    return nil
}
