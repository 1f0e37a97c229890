/// The pages of a list. Each page is requested when it is needed.
///
/// The sequence ends after Apple's last page. If a call fails, `next()` throws its error, and the next call of `next()`
/// requests the same page again. A failure therefore loses no page.
public struct APIPages<Page: Sendable>: AsyncSequence, Sendable {
    /// Requests the page of a token. Returns it with the token of the next page, which is nil after the last page.
    typealias Load = @Sendable (_ token: String?) async throws -> (page: Page, next: String?)

    fileprivate let first: String?
    fileprivate let load: Load

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(load: load, token: first)
    }

    /// Iterates over the pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let load: Load
        fileprivate var token: String?
        fileprivate var isDone = false

        /// The next page; nil after the last one.
        /// - Throws: ``AppStoreServerAPIError``, or `CancellationError`.
        public mutating func next() async throws -> Page? {
            guard !isDone else { return nil }
            let loaded = try await load(token)
            token = loaded.next
            isDone = loaded.next == nil
            return loaded.page
        }
    }
}

extension RequestPipeline {
    /// The pages of a list. A page that announces another page must have a new token. Otherwise it is an error, because the loop
    /// would not end.
    /// - Parameters:
    ///   - first: the token of the first page; nil for the beginning.
    ///   - endpoint: the endpoint of the list.
    ///   - load: requests the page of a token.
    ///   - next: the token of the next page, and whether the page announces one.
    func pages<Page: Sendable>(
        from first: String?, _ endpoint: APIEndpoint, load: @escaping @Sendable (_ token: String?) async throws -> Page,
        next: @escaping @Sendable (Page) -> (token: String?, hasMore: Bool?)
    ) -> APIPages<Page> {
        APIPages(first: first) { token in
            let page = try await load(token)
            let stated = next(page)
            guard stated.hasMore == true else { return (page, nil) }
            guard let following = stated.token, following != token else { throw error(.pagingStalled, endpoint) }
            return (page, following)
        }
    }
}
