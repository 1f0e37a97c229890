import AppStoreModels
import Testing

/// The samples must have every field set: only then do the other tests see every field.
@Suite struct ReflectionTests {
    /// The paths of all fields that are nil or an empty array, in a value and everything inside of it.
    static func emptyFields(of root: Any) -> [String] {
        var empty: [String] = []
        var open: [(String, Any)] = [("", root)]
        while let (path, value) = open.popLast() {
            let mirror = Mirror(reflecting: value)
            switch mirror.displayStyle {
            case .optional, .collection:
                if mirror.children.isEmpty { empty.append(path) }
                // The first element stands for all; further ones may be bare on purpose.
                if let first = mirror.children.first { open.append((path, first.value)) }
            default:
                for child in mirror.children where !(child.value is UnknownMembers) {
                    open.append(("\(path).\(child.label ?? "?")", child.value))
                }
            }
        }
        return empty
    }

    @Test func samplesAreComplete() {
        #expect(Self.emptyFields(of: Sample.transaction) == [])
        #expect(Self.emptyFields(of: Sample.renewalInfo) == [])
        #expect(Self.emptyFields(of: Sample.appTransaction) == [])
        #expect(Self.emptyFields(of: Sample.notification) == [])
    }

    @Test("The reflection sees a field that is missing deep inside")
    func reflectionFindsMissingField() {
        var transaction = Sample.transaction
        transaction.advancedCommerceInfo?.items?[0].refunds?[0].refundReason = nil
        transaction.storefront = nil
        let missing = Set(Self.emptyFields(of: transaction))
        // Where the value is kept.
        #expect(missing == [".storefront", ".rareAdvancedCommerceInfo.value.items.refunds.refundReason"])
    }
}
