import ReceiptForge

let transactionDate = ForgedInstant(2015, 3, 1, 8, 0, 0)

/// An iOS 6 style receipt of production, signed by the test authority.
func transactionReceipt(
    subscription: Bool = true, _ change: (inout ForgedTransactionReceipt) -> Void = { _ in }
) throws -> [UInt8] {
    let receipt = ForgedTransactionReceipt.production(
        product: subscription ? monthly : tree, pod: "35", serial: "0000535213977", at: transactionDate
    ).with {
        if subscription {
            $0.expiresDate = transactionDate.adding(months: 1)
            $0.webOrderLineItemId = "350000012345678"
        }
        change(&$0)
    }
    return try ForgedTransactionSignature.version2(at: receipt.purchaseDate).signed(receipt)
}

func sandboxTransactionReceipt(_ change: (inout ForgedTransactionReceipt) -> Void = { _ in }) throws -> [UInt8] {
    let receipt = ForgedTransactionReceipt.sandbox(product: tree, id: "1000000283499967", at: transactionDate)
        .with(change)
    return try ForgedTransactionSignature.version2(at: receipt.purchaseDate).signed(receipt)
}
