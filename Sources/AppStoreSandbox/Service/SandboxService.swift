internal import AppStoreModels
internal import AppStoreServer

/// The App Store with its clock and its notification sender. It processes one request at a time.
actor SandboxService {
    private var state: SandboxState
    private var clock: SandboxClock
    private let wallClock: @Sendable () -> Int64
    private let sender: NotificationSender
    private var delivery: Task<Void, Never>?

    init(
        state: SandboxState, mode: SandboxClock.Mode, sender: NotificationSender,
        wallClock: @escaping @Sendable () -> Int64
    ) {
        self.state = state
        self.sender = sender
        self.wallClock = wallClock
        clock = SandboxClock(mode: mode, start: state.now)
    }

    /// Answers a request of the App Store Server API. Notifications about it are sent after the answer.
    func respond(to request: APIRequest) async -> APIResponse {
        do {
            try await advance(to: clock.now(wallClock: wallClock()))
            let response = try state.respond(to: request, wallClock: wallClock())
            deliverLater()
            return response
        } catch {
            return APIRefusal(.generalInternal).response
        }
    }

    // MARK: Faults

    /// The fault of a request of the App Store Server API, if any.
    func meetFault(path: String) -> SandboxFaults.Entry? { state.faults.meet(path: path) }

    /// The answer of a fault that does not need the App Store's answer.
    func answer(_ fault: SandboxFault) -> APIResponse? {
        switch fault.kind {
        case .unauthorized: return .unauthorized
        case .rateLimited:
            var response = APIRefusal(.rateLimitExceeded).response
            response.retryAfter = wallClock().addingSaturated(fault.retryAfter * 1_000)
            return response
        case .refused: return APIRefusal(APIErrorCode(rawValue: fault.code)).response
        case .serverError: return APIResponse(status: fault.status)
        case .garbage: return APIResponse(status: 200, body: Array("<html>\u{0}not JSON".utf8) + [0xFF, 0xFE])
        case .delay, .hang, .cut: return nil
        }
    }

    /// The interval at which a hanging request checks whether its fault was removed.
    private static let hangStep = Duration.milliseconds(50)

    /// Waits until the fault is removed or the task is canceled.
    func hang(_ number: Int) async {
        state.faults.hang(number, 1)
        defer { state.faults.hang(number, -1) }
        while state.faults.contains(number), !Task.isCancelled { try? await Task.sleep(for: Self.hangStep) }
    }

    // MARK: Control

    /// Answers a request of the control API after one attempt of each due notification.
    func control(_ request: APIRequest) async -> APIResponse {
        do {
            let wall = wallClock()
            try await advance(to: clock.now(wallClock: wall))
            let outcome = try state.control(request, clock: clock.mode, wallClock: wall)
            try state.collectEvents()
            if let date = outcome.advancesTo {
                try await pass(to: date)
            }
            await deliver()
            return try outcome.answer(state)
        } catch {
            let failure = SandboxError(.notPossible, "the sandbox failed: \(type(of: error))")
            return (error as? SandboxError ?? failure).response
        }
    }

    /// Advances the App Store's time with the machine's clock until the task is canceled.
    func run() async throws {
        guard clock.mode == .running else { return }
        while !Task.isCancelled {
            let now = clock.now(wallClock: wallClock())
            try await advance(to: now)
            deliverLater()
            // A request can schedule an earlier event, so check every second.
            let wait = min(max((state.nextDueDate ?? .max).addingSaturated(-now), 10), 1_000)
            try await Task.sleep(for: .milliseconds(wait))
        }
    }

    /// The limit of events in one request, because a subscription can renew forever.
    private static let maximumSteps = 1_000

    /// Advances event by event, so that each event happens and is sent at its time.
    private func pass(to date: Int64) async throws {
        var steps = 0
        while let due = state.nextDueDate, due <= date {
            guard steps < Self.maximumSteps else {
                throw SandboxError(
                    .notPossible,
                    "more than \(Self.maximumSteps) events happen until then: the clock stopped at \(state.now)")
            }
            steps += 1
            try await move(to: due)
        }
        try await move(to: date)
    }

    private func move(to date: Int64) async throws {
        clock.advance(to: date, wallClock: wallClock())
        try await advance(to: date)
        await deliver()
    }

    private func advance(to date: Int64) async throws {
        state.engine.advance(to: date)
        try state.collectEvents()
    }

    // MARK: Sending

    /// Sends the due notifications and waits for the result.
    private func deliver() async { await nextDelivery().value }

    private func deliverLater() {
        if !state.log.due(at: state.now).isEmpty { _ = nextDelivery() }
    }

    /// Sends one notification at a time, so that they arrive in order.
    private func nextDelivery() -> Task<Void, Never> {
        let previous = delivery
        let task = Task {
            await previous?.value
            await sendDue()
        }
        delivery = task
        return task
    }

    private func sendDue() async {
        for notification in state.log.due(at: state.now) {
            guard let url = state.notificationURL else { return }
            let body = notification.bodyV1 ?? notification.bodyV2
            let result = await sender.send(body, to: url)
            state.log.record(notification.uuid, result, at: state.now)
        }
    }
}

extension SandboxState {
    /// The time of the next scheduled event or notification attempt.
    var nextDueDate: Int64? {
        [engine.nextDueDate, notificationURL == nil ? nil : log.nextAttempt].compactMap { $0 }.min()
    }
}

extension SandboxNotification {
    /// The body of a version 2 notification.
    var bodyV2: [UInt8] {
        JSONWriter.object(reservingCapacity: signedPayload.utf8.count + 32) {
            $0.member("signedPayload", signedPayload)
        }
    }
}
