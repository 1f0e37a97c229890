/// The pages of a list, each asked for when it is needed.
///
/// The sequence ends when Apple says that there are no more pages. If a call fails, iterating throws its error, and the next
/// call of `next()` asks for the same page again; so after a failure no page is lost.
public struct APIPages<Page: Sendable>: AsyncSequence, Sendable {
    /// A page, and the token for the one after it.
    struct Step: Sendable {
        let page: Page
        /// Nil after the last page.
        let next: String?
    }

    private let first: String?
    private let load: @Sendable (_ token: String?) async throws -> Step

    /// - Parameters:
    ///   - first: the token to begin with; nil for the first page.
    ///   - load: asks for a page. It throws if there are to be more pages without a token for them.
    init(startingAt first: String?, load: @escaping @Sendable (_ token: String?) async throws -> Step) {
        self.first = first
        self.load = load
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(token: first, load: load)
    }

    /// Goes from page to page.
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
    /// - Throws: if there are more pages, but no token or the one that was just used: that would go on for ever.
    func nextToken(
        _ token: String?, after used: String?, hasMore: Bool?, _ endpoint: APIEndpoint
    ) throws -> String? {
        guard hasMore == true else { return nil }
        guard let token, token != used else { throw error(.pagingStalled, endpoint) }
        return token
    }
}
