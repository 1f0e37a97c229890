#!/usr/bin/env bash
# Checks which packages SwiftPM fetches for a package that depends on one library. LegacyReceipts needs only swift-crypto,
# and no server, database or HTTP client.
set -euo pipefail
cd "$(dirname "$0")/.."

repository=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# fetched TRAITS PRODUCT: the names of the packages that are fetched for PRODUCT.
fetched() {
    rm -rf "${folder:?}"/* "$folder/.build"
    mkdir -p "$folder/Sources/consumer"
    echo "import $2" >"$folder/Sources/consumer/main.swift"
    cat >"$folder/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "consumer", platforms: [.macOS(.v15)],
    dependencies: [.package(path: "$repository", traits: [$1])],
    targets: [
        .executableTarget(
            name: "consumer", dependencies: [.product(name: "$2", package: "$(basename "$repository")")])
    ])
EOF
    swift package --package-path "$folder" resolve >"$folder/log" 2>&1 || { cat "$folder/log" >&2; return 1; }
    ls "$folder/.build/checkouts" | sort | paste -sd ' '
}

# expect TRAITS PRODUCT PACKAGES
expect() {
    local packages
    packages=$(fetched "$1" "$2")
    [ "$packages" = "$3" ] || { echo "$2 fetches '$packages' instead of '$3'" >&2; exit 1; }
    echo "$2: $packages"
}

expect '' LegacyReceipts 'swift-asn1 swift-crypto'
expect '"ProductCatalog"' Purchases 'Yams swift-asn1 swift-crypto'
expect '"SQLite"' SQLiteTransactionStore 'GRDB.swift Yams swift-asn1 swift-crypto'
