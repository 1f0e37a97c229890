public import VerifyReceipt

/// Receives each answered verifyReceipt request after its answer was written.
public protocol AnswerObserving: Sendable {
    /// Called during the request, so it must return at once and do its work in the background.
    ///
    /// - Parameters:
    ///   - body: the request's body as received; it contains a receipt and possibly a secret.
    ///   - environment: the endpoint that the request was answered as.
    ///   - reply: the reply.
    func answered(_ body: [UInt8], at environment: EndpointEnvironment, with reply: VerifyReceiptReply)
}
