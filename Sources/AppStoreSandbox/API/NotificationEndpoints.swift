internal import AppStoreModels
internal import AppStoreServer
internal import Encodings
internal import Purchases

/// The filter of a request for the notification history (Reference.md S5.6).
private struct NotificationFilter {
    let startDate: Int64
    let endDate: Int64
    var type: NotificationTypeV2?
    var subtype: Subtype?
    var transactionId: String?
    var onlyFailures = false

    init(_ body: JSONObject, now: Int64, reachDays: Int64) throws {
        guard let start = body["startDate"]?.integer, start >= 0 else { throw APIRefusal(.invalidStartDate) }
        guard let end = body["endDate"]?.integer, end >= 0 else { throw APIRefusal(.invalidEndDate) }
        startDate = start
        endDate = min(end, now)
        guard start < end else { throw APIRefusal(.startDateAfterEndDate) }
        guard start >= now - reachDays * .millisecondsPerDay else { throw APIRefusal(.startDateTooFarInPast) }
        if let text = body["notificationType"]?.string {
            let type = NotificationTypeV2(rawValue: text)
            guard type.isKnown else { throw APIRefusal(.invalidNotificationType) }
            self.type = type
        }
        if let text = body["notificationSubtype"]?.string {
            let subtype = Subtype(rawValue: text)
            guard subtype.isKnown, type != nil else { throw APIRefusal(.invalidNotificationType) }
            self.subtype = subtype
        }
        transactionId = body["transactionId"]?.string
        guard transactionId == nil || type == nil else { throw APIRefusal(.multipleFiltersSupplied) }
        onlyFailures = body["onlyFailures"]?.bool ?? false
    }

    func admits(_ notification: SandboxNotification) -> Bool {
        guard notification.signedDate >= startDate, notification.signedDate <= endDate else { return false }
        if let type, notification.type != type { return false }
        if let subtype, notification.subtype != subtype { return false }
        return !onlyFailures || notification.hasFailed
    }
}

extension SandboxState {
    /// Get Notification History, the oldest first.
    func notificationHistory(_ request: APIRequest) throws -> APIResponse {
        let body = try object(request)
        let reach: Int64 = configuration.isProduction ? 180 : 30
        let question = try NotificationFilter(body, now: signingDate, reachDays: reach)
        let customer = try question.transactionId.map { try self.customer(anyId: $0) }
        let found = log.notifications.filter { notification in
            question.admits(notification) && (customer == nil || notification.customer == customer?.name)
        }
        // A client must repeat the body with each page (Reference.md S2.3).
        let context = PageToken.context(["notifications", String(decoding: request.body, as: UTF8.self)])
        let position =
            try PageToken.position(request.value("paginationToken"), in: context, .invalidPaginationToken) ?? 0
        guard position <= found.count else { throw APIRefusal(.invalidPaginationToken) }
        let page = found[Int(position)...].prefix(Self.pageSize)
        let hasMore = page.endIndex < found.endIndex
        return try .json(
            NotificationHistoryResponse {
                $0.paginationToken = hasMore ? PageToken(position: Int64(page.endIndex), context: context).text : nil
                $0.hasMore = hasMore
                $0.notificationHistory = page.map { notification in
                    NotificationHistoryResponseItem {
                        $0.signedPayload = notification.signedPayload
                        $0.sendAttempts = notification.attempts
                        $0.firstSendAttemptResult = notification.attempts.first?.sendAttemptResult
                    }
                }
            })
    }

    /// Request a Test Notification.
    mutating func requestTest() throws -> APIResponse {
        guard notificationURL != nil else { throw APIRefusal(.serverNotificationUrlNotFound) }
        let uuid = engine.recordTestEvent()
        return try .json(SendTestNotificationResponse { $0.testNotificationToken = "\(uuid)_\(now)" })
    }

    /// Get Test Notification Status. There is none before the first attempt (Reference.md S2.1).
    func testStatus(_ token: String) throws -> APIResponse {
        let parts = token.split(separator: "_")
        guard parts.count == 2, UUIDText(String(parts[0])) != nil, Int64(parts[1]) != nil else {
            throw APIRefusal(.invalidTestNotificationToken)
        }
        guard let notification = log[String(parts[0])], notification.type == .test, !notification.attempts.isEmpty
        else {
            throw APIRefusal(.testNotificationNotFound)
        }
        return try .json(
            CheckTestNotificationResponse {
                $0.signedPayload = notification.signedPayload
                $0.sendAttempts = notification.attempts
                $0.firstSendAttemptResult = notification.attempts.first?.sendAttemptResult
            })
    }
}
