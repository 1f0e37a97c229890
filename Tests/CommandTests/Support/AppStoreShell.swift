import Foundation

/// The App Store that `sandbox` plays, and `app-store` with its key.
enum AppStoreShell {
    private static let products = """
        {"identifier": "A1B2C3D4", "version": {"major": 3, "minor": 0}, "settings": {},
         "products": [
           {"productID": "com.example.coins", "type": "Consumable", "displayPrice": "0.99", "internalID": "1"}],
         "nonRenewingSubscriptions": [],
         "subscriptionGroups": [{"id": "21400000", "name": "News", "subscriptions": [
           {"productID": "com.example.monthly", "type": "RecurringSubscription", "displayPrice": "4.99",
            "recurringSubscriptionPeriod": "P1M", "subscriptionGroupID": "21400000", "groupNumber": 1}]}]}
        """

    /// A `.storekit` file with one subscription.
    static let subscription = """
        {"identifier": "A1B2C3D4", "version": {"major": 3, "minor": 0}, "products": [], "settings": {},
         "nonRenewingSubscriptions": [],
         "subscriptionGroups": [{"id": "21400000", "name": "News", "subscriptions": [
           {"productID": "com.example.monthly", "type": "RecurringSubscription", "displayPrice": "4.99",
            "recurringSubscriptionPeriod": "P1M", "subscriptionGroupID": "21400000", "groupNumber": 1}]}]}
        """

    /// Ada has a subscription, `$ada`, and bought coins, `$coins`. `app` is the command with the key and the root, and prints its
    /// exit status on the last line; `plain` trusts only Apple's root. `$today` is the day on which all this begins.
    static func run(_ steps: String, in folder: Folder) async throws -> Outcome {
        try folder.write("p.storekit", Array(products.utf8))
        return try await Command.shell(
            """
            : > out
            today=$(date -u +%F)
            "$COMMAND" sandbox --products p.storekit --port 0 --clock stepped --root-out roots.pem --key-out key.p8 > out &
            pids=$!
            trap 'kill $pids' EXIT
            while ! grep -q "issuer-id" out; do kill -0 $pids || exit 9; sleep 0.1; done
            address=$(sed -n 's/^The local App Store listens at \\(.*\\)\\.$/\\1/p' out)
            key=$(sed -n 's/.*key-id \\([^ ]*\\) and issuer-id.*/\\1/p' out)
            issuer=$(sed -n 's/.*issuer-id \\([^ ]*\\).*/\\1/p' out)
            shop() { curl -sf -d "$2" "$address/sandbox/v1/$1"; }
            member() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
            plain() {
                "$COMMAND" app-store "$@" --bundle-id com.example.app --environment sandbox --issuer-id $issuer \\
                    --key-id $key --private-key key.p8 --server-url $address
                echo "status $?"
            }
            app() { plain "$@" --trust-root roots.pem; }
            ada=$(shop purchases '{"customer": "ada", "productId": "com.example.monthly"}' | member originalTransactionId)
            coins=$(shop purchases '{"customer": "ada", "productId": "com.example.coins"}' | member originalTransactionId)
            echo "$ada $coins" > ids
            \(steps)
            """, in: folder)
    }

    static func ids(in folder: Folder) throws -> [String] {
        try folder.text("ids").split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
