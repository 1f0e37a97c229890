internal import AppStoreModels
internal import ReceiptForge

/// What the control API shows.
extension SandboxState {
    func receipt(_ bytes: [UInt8]) -> ControlOutcome {
        let text = SandboxBase64.encode(bytes)
        return ControlOutcome { writer, _ in writer.member("receipt-data", text) }
    }

    func customer(_ name: String) throws -> ControlOutcome {
        _ = try engine.customer(name)
        return ControlOutcome { writer, state in
            let customer = try state.engine.customer(name)
            writer.member("customer", name)
            writer.member("appTransactionId", customer.appTransactionId)
            writer.member(
                "signedAppTransactionInfo",
                try state.signer.sign(state.engine.appTransaction(of: customer), at: state.signingDate))
            writer.key("purchases")
            writer.beginArray()
            for id in customer.transactionIds {
                writer.beginObject()
                try writer.purchase(id, state)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    func products() -> ControlOutcome {
        ControlOutcome { writer, state in
            writer.key("products")
            writer.beginArray()
            for product in state.engine.catalog.products.values.sorted(by: { $0.id < $1.id }) {
                writer.beginObject()
                writer.member("productId", product.id)
                writer.member("type", product.type)
                writer.member("period", product.period?.iso8601)
                writer.member("subscriptionGroupIdentifier", product.group)
                writer.member("price", product.price)
                writer.member("isForSale", product.isForSale)
                writer.member("offers", product.offers.map { $0.identifier ?? "introductory" })
                writer.endObject()
            }
            writer.endArray()
        }
    }

    func clockOutcome(_ date: Int64?, _ mode: SandboxClock.Mode) -> ControlOutcome {
        ControlOutcome(advancesTo: date) { writer, state in
            writer.member("clock", mode.rawValue)
            writer.member("nextEvent", state.nextDueDate)
        }
    }

    func notifications() -> ControlOutcome {
        ControlOutcome { writer, state in
            writer.member("url", state.notificationURL)
            writer.key("notifications")
            writer.beginArray()
            for notification in state.log.notifications {
                writer.beginObject()
                writer.member("notificationUUID", notification.uuid)
                writer.member("notificationType", notification.type)
                writer.member("subtype", notification.subtype)
                writer.member("signedDate", notification.signedDate)
                writer.member("customer", notification.customer)
                writer.member("sendAttemptResults", notification.attempts.compactMap(\.sendAttemptResult?.rawValue))
                writer.member("nextAttempt", notification.nextAttempt)
                writer.member("signedPayload", notification.signedPayload)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    func showFaults() -> ControlOutcome {
        ControlOutcome { writer, state in
            writer.key("faults")
            writer.beginArray()
            for entry in state.faults.entries {
                writer.beginObject()
                writer.member("kind", entry.fault.kind.rawValue)
                writer.member("path", entry.fault.path)
                writer.member("left", entry.left)
                writer.member("met", entry.met)
                writer.member("hanging", entry.hanging)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    func trust() throws -> ControlOutcome {
        let roots = try SandboxRoots()
        return ControlOutcome { writer, _ in
            writer.member("signedDataRoot", roots.signedData)
            writer.member("receiptRoot", roots.receipts)
            writer.member("transactionReceiptIntermediate", roots.transactionReceiptIntermediate)
        }
    }
}
