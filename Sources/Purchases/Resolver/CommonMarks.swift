/// Groups elements that share a mark, directly or through other elements.
package enum CommonMarks {
    /// The indexes of the elements in each group, ascending. The groups are in the order of their first elements. An element that
    /// shares no mark is a group of its own. The order of the elements does not change the groups.
    /// - Parameters:
    ///   - count: the number of elements.
    ///   - marks: the marks of the element at an index.
    package static func groups<Mark: Hashable>(count: Int, marks: (Int) -> [Mark]) -> [[Int]] {
        // For each element, an earlier one of its group (union-find). The first element of a group, the root, has its own index.
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
