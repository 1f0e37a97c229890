package import Purchases
package import TransactionStore

/// A customer, and the claims of users on its identities.
package typealias ListedCustomer = (customer: Customer, users: [UserClaim])

extension CustomerDirectory where Self: MigrationStore {
    /// Calls `body` with all customers of the store, in pages.
    ///
    /// `prepare` runs in parallel, each time for a few customers in a row. The next page is read meanwhile, so at most two
    /// pages are in memory.
    /// - Parameters:
    ///   - prepare: what can be done with customers without regard to the others.
    ///   - body: receives the results for one page, in the order of the customers.
    /// - Throws: what the store and `body` throw, in the order of the pages, or `CancellationError`.
    package func forEachPage<Part: Sendable>(
        preparing prepare: @escaping @Sendable (ArraySlice<ListedCustomer>) -> Part,
        body: ([Part]) async throws -> Void
    ) async throws {
        let scopes = try await self.scopes()
        var page = try await self.page(at: PagePosition(scopes: scopes[...]))
        while let (customers, next) = page {
            try Task.checkCancellation()
            async let following = self.page(at: next)
            try await body(await inParallel(customers, prepare))
            page = try await following
        }
    }

    /// The first page at a position or after it that has customers, and where the next one begins; nil at the end.
    private func page(at start: PagePosition) async throws -> (customers: [ListedCustomer], next: PagePosition)? {
        var position = start
        while let scope = position.scopes.first {
            let customers = try await self.customers(in: scope, after: position.last, limit: 200)
            guard let last = customers.last?.identities.first else {
                position = PagePosition(scopes: position.scopes.dropFirst())
                continue
            }
            position.last = last
            let claims = Dictionary(
                grouping: try await users(of: customers.flatMap(\.identities), in: scope), by: \.identity)
            let listed = customers.map { customer -> ListedCustomer in
                (customer, claims.isEmpty ? [] : customer.identities.flatMap { claims[$0] ?? [] })
            }
            return (listed, position)
        }
        return nil
    }
}

/// Where a page of customers begins.
private struct PagePosition {
    /// The scope of the page, and those after it.
    var scopes: ArraySlice<StoreScope>
    /// The first identity of the last customer before the page; nil at the beginning of the scope.
    var last: CustomerIdentity?
}

/// How many customers one task prepares: enough to be worth a task, and few enough to share a page between all cores.
private let customersPerTask = 8

private func inParallel<Part: Sendable>(
    _ customers: [ListedCustomer], _ prepare: @escaping @Sendable (ArraySlice<ListedCustomer>) -> Part
) async -> [Part] {
    await withTaskGroup(of: (start: Int, part: Part).self) { group in
        for start in stride(from: 0, to: customers.count, by: customersPerTask) {
            let few = customers[start..<min(start + customersPerTask, customers.count)]
            group.addTask { (start, prepare(few)) }
        }
        var parts: [(start: Int, part: Part)] = []
        for await part in group { parts.append(part) }
        return parts.sorted { $0.start < $1.start }.map(\.part)
    }
}
