/// Finds the things that belong together because they have a mark in common, directly or through others.
enum CommonMarks {
    /// The places of the things in each group, ascending, in the order of the first ones. A thing without a common mark is alone.
    /// The order of the things does not change which of them belong together.
    /// - Parameters:
    ///   - count: how many things there are.
    ///   - marks: the marks of the thing at a place.
    static func groups<Mark: Hashable>(count: Int, marks: (Int) -> [Mark]) -> [[Int]] {
        // For each thing, an earlier one of the same group. The first one of a group, its root, has its own place.
        var earlier = Array(0..<count)
        func root(of place: Int) -> Int {
            var place = place
            while earlier[place] != place {
                earlier[place] = earlier[earlier[place]]
                place = earlier[place]
            }
            return place
        }
        var known: [Mark: Int] = [:]
        for place in 0..<count {
            for mark in marks(place) {
                guard let other = known[mark] else {
                    known[mark] = place
                    continue
                }
                let (one, two) = (root(of: place), root(of: other))
                earlier[max(one, two)] = min(one, two)
            }
        }
        var numbers = earlier
        var groups: [[Int]] = []
        for place in 0..<count {
            let first = root(of: place)
            if first == place {
                numbers[place] = groups.count
                groups.append([place])
            } else {
                groups[numbers[first]].append(place)
            }
        }
        return groups
    }
}
