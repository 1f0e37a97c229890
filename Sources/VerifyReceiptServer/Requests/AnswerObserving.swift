public import VerifyReceipt

/// Receives each answered verifyReceipt request after its answer was written.
public protocol AnswerObserving: Sendable {
    /// Called on the path of requests: has to return at once and to leave its work to the background.
    ///
    /// - Parameters:
    ///   - body: the request's body as received; it holds a receipt and maybe a secret.
    ///   - environment: as which endpoint the request was answered.
    ///   - reply: what was answered.
    func answered(_ body: [UInt8], at environment: EndpointEnvironment, with reply: VerifyReceiptReply)
}
