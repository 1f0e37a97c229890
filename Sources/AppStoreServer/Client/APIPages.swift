/// The pages of a list. Each page is requested when it is needed.
///
/// The sequence ends after Apple's last page. If a call fails, `next()` throws its error, and the next call of `next()`
/// requests the same page again. A failure therefore loses no page.
public struct APIPages<Page: Sendable>: AsyncSequence, Sendable {
    /// A page, and the token for the next one.
    struct Step: Sendable {
        let page: Page
        /// Nil after the last page.
        let next: String?
    }

    private let first: String?
    private let load: @Sendable (_ token: String?) async throws -> Step

    /// - Parameters:
    ///   - first: the token of the first page; nil for the beginning.
    ///   - load: requests a page. It throws if there are more pages, but no token for them.
    init(startingAt first: String?, load: @escaping @Sendable (_ token: String?) async throws -> Step) {
        self.first = first
        self.load = load
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(token: first, load: load)
    }

    /// Iterates over the pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var token: String?
        private var isDone = false
        private let load: @Sendable (_ token: String?) async throws -> Step

        init(token: String?, load: @escaping @Sendable (_ token: String?) async throws -> Step) {
            self.token = token
            self.load = load
        }

        /// The next page; nil after the last one.
        /// - Throws: ``AppStoreServerAPIError``, or `CancellationError`.
        public mutating func next() async throws -> Page? {
            guard !isDone else { return nil }
            let step = try await load(token)
            token = step.next
            isDone = step.next == nil
            return step.page
        }
    }
}

extension RequestPipeline {
    /// The token for the page after one.
    /// - Throws: if there are more pages, but no new token, because that would be an endless loop.
    func nextToken(
        _ token: String?, after used: String?, hasMore: Bool?, _ endpoint: APIEndpoint
    ) throws -> String? {
        guard hasMore == true else { return nil }
        guard let token, token != used else { throw error(.pagingStalled, endpoint) }
        return token
    }
}
