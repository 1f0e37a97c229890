internal import AppStoreModels

/// Pairs the entries of two lists that are about the same purchase.
struct EntryPairing {
    /// In the order of Apple's list.
    private(set) var pairs: [(JSONObject, JSONObject)] = []
    private(set) var onlyApples: [JSONObject] = []
    private(set) var onlyOurs: [JSONObject] = []
    /// Whether the common entries of both lists have the same order.
    private(set) var isSameOrder = true
    /// The order of the common entries in our list.
    private(set) var orderOfOurs = ""

    /// Pairs entries with the same id and product, then entries with the same id, then entries without an id by
    /// product. Each entry is in one pair at most. Linear in the number of entries.
    ///
    /// - Parameters:
    ///   - apples: the entries of Apple's reply.
    ///   - ours: the entries of our reply.
    ///   - id: the member that names the purchase.
    init(_ apples: [JSONValue], _ ours: [JSONValue], id: String) {
        let apples = apples.map { $0.object ?? JSONObject(members: []) }
        let ours = ours.map { $0.object ?? JSONObject(members: []) }
        let keys: [(JSONObject) -> String?] = [
            { entry in
                (entry[id]?.id).map { $0 + "\u{0}" + (entry["product_id"]?.id ?? "") }
            },
            { $0[id]?.id },
            { entry in entry[id] == nil ? entry["product_id"]?.id : nil },
        ]
        var partner = [Int?](repeating: nil, count: apples.count)
        var isTaken = [Bool](repeating: false, count: ours.count)
        for (pass, key) in keys.enumerated() {
            var waiting: [String: [Int]] = [:]
            for index in ours.indices.reversed() where !isTaken[index] {
                // An entry without an id may match any entry of its product, as in replies before the end of 2017
                // (V3.6).
                let name = pass == 2 ? ours[index]["product_id"]?.id : key(ours[index])
                if let name { waiting[name, default: []].append(index) }
            }
            for index in apples.indices where partner[index] == nil {
                guard let name = key(apples[index]), let other = waiting[name]?.popLast() else { continue }
                partner[index] = other
                isTaken[other] = true
            }
        }
        var last = -1
        for (index, apple) in apples.enumerated() {
            guard let other = partner[index] else {
                onlyApples.append(apple)
                continue
            }
            pairs.append((apple, ours[other]))
            if other < last { isSameOrder = false }
            last = other
        }
        orderOfOurs = ReplyComparer.order(ours.indices.filter { isTaken[$0] }.map { ours[$0] })
        onlyOurs = ours.indices.filter { !isTaken[$0] }.map { ours[$0] }
    }
}
