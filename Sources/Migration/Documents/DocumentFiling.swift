import AppStoreModels
import LegacyReceipts
import Purchases
import TransactionStore

/// Files the documents of one record in a store.
struct DocumentFiling {
    let record: InputRecord
    /// The roles of the columns of the record, with the defaults that count.
    let roles: ColumnRoles
    /// When the migration began, in milliseconds since 1970-01-01T00:00:00Z.
    let date: Int64
    let acceptsRecorded: Bool
    /// The purchases that the verified documents state.
    let signed: SignedTransactions
    var signedApps: [SignedApp] = []
    var claims: Set<UserClaim> = []

    /// Files the documents. Those that cannot be stored are refused.
    mutating func file(_ read: inout RecordDocuments, into output: inout BatchOutput) {
        fileVerified(&read, into: &output)
        let recorded = read.recorded
        read.recorded = []
        for document in recorded {
            output.counts.add(document.mapping.notes)
            guard acceptsRecorded else {
                read.keep(document.unverified)
                read.refuse(document, .recordedNotAccepted)
                continue
            }
            file(document, &read, into: &output.additions)
        }
        output.additions.users += claims
    }

    // MARK: Verified documents

    private mutating func fileVerified(_ read: inout RecordDocuments, into output: inout BatchOutput) {
        let documents = read.verified
        let hasScopeBesideOthers = read.hasScopeBesideOthers
        read.verified = []
        let signedData = fileSignedData(of: documents, into: &output.additions)
        for document in documents {
            let content = document.content
            let sets = content.signed.map { signedData.sets(of: $0) } ?? content.facts.map { [$0] } ?? []
            guard !sets.isEmpty else {
                // A receipt inside a reply is quarantined with the reply, or its purchases are in the reply's rows.
                if let input = document.document {
                    let refused = RefusedDocument(document: input, kind: content.kind, reason: .notFiled)
                    // Renewal info states no app. Alone, a retry would file it with a default that the others contradict.
                    if content.signed != nil, content.bundleId == nil, hasScopeBesideOthers {
                        read.wait(refused)
                    } else {
                        read.refused.append(refused)
                    }
                } else {
                    output.counts.note("embeddedReceiptNotFiled")
                }
                continue
            }
            if content.signed == nil { output.additions.facts += sets }
            keepApps(of: sets, document.carried)
            for carried in [document.carried] + document.besideCopies { claim(sets, beside: carried) }
            read.verified.append(document)
        }
    }

    /// Files all JWS of the record together, because renewal information does not state its app. The transaction beside
    /// it does, or a receipt with a purchase of its subscription.
    private func fileSignedData(
        of documents: [VerifiedDocument], into additions: inout StoreAdditions
    ) -> FiledDocuments {
        let withSignedData = documents.filter { $0.content.signed != nil }
        let signedData = withSignedData.compactMap(\.content.signed)
        let scopes =
            withSignedData.contains { $0.content.bundleId == nil }
            ? SignedScopes(documents.map { (scope: $0.place.scope, receipt: $0.content.mapped) }) : nil
        let sets = [FactSet](signedData) { place in
            let content = withSignedData[place].content
            let columns = record.carried + withSignedData[place].carried
            var stated = roles.documents.surroundings(columns)
            if let beside = scopes?.scope(ofRenewalInfo: content.mapped, in: content.environment) {
                stated.complete(from: beside)
            }
            stated.complete(from: roles.defaults(beside: columns))
            return stated.bundleId?.value
        }
        additions.facts += sets
        return FiledDocuments(sets)
    }

    private mutating func keepApps(of sets: [FactSet], _ carried: [CarriedColumn]) {
        for set in sets {
            guard let app = set.appTransaction else { continue }
            let userId = roles.users.userId(record.carried + carried)
            signedApps.append(
                SignedApp(scope: set.scope, identities: set.identities, fact: app, userId: userId))
        }
    }

    /// Attaches the user, whom the columns beside a document name, to the purchases of the document.
    private mutating func claim(_ sets: [FactSet], beside carried: [CarriedColumn]) {
        claims.formUnion(roles.users.claims(record.carried + carried, on: sets))
    }

    // MARK: Recorded documents

    private mutating func file(
        _ document: RecordedDocument, _ read: inout RecordDocuments, into additions: inout StoreAdditions
    ) {
        var mapping = document.mapping
        let contradicted = signed.contradictedRows(of: mapping)
        if !contradicted.isEmpty {
            mapping.remove(rows: contradicted)
            if mapping.isWithoutPurchases { mapping.removeAppTransaction() }
            // Alone, a retry would file the rows: nothing in the document contradicts them.
            read.wait(document.refused(.contradictsSignedReceipt))
        }
        let userId =
            mapping.isWithoutPurchases ? roles.users.userId(record.carried + document.document.carried) : nil
        let rows = document.rows.indices.filter { !contradicted.contains($0) }.map { document.rows[$0].document }
        // Columns of the caller's own are no document. A document with rows states nothing besides them.
        let isOneDocument = !document.isRowBeside && document.rows.isEmpty
        var sets = [FactSet](
            recorded: mapping, importedAt: date, userId: userId,
            document: isOneDocument ? document.document.hash : nil, rows: rows.map(\.hash))
        if mapping.isWithoutPurchases, let set = sets.first {
            let agreeing = signedApps.filter { $0.agrees(with: set, of: userId) }
            if agreeing.contains(where: { $0.statesLegacyFields(of: set) }) {
                read.keep(document.unverified)
                read.recorded.append(document)
                return
            }
            // Stored now, it would stay another customer when the receipt or JWS is verified.
            if let reason = read.reasonToWait { return read.wait(document.refused(reason)) }
            if let app = agreeing.first {
                sets = [FactSet(scope: set.scope, identities: app.identities, appTransaction: set.appTransaction)]
            }
        }
        read.keep(document.unverified)
        let filedRows = FiledDocuments(document.rows.isEmpty ? [] : sets)
        if !document.rows.isEmpty {
            let unfiled = document.mapping.transactions.indices.filter { row in
                let id = document.mapping.transactions[row].payload.transactionId
                return !contradicted.contains(row) && filedRows.sets(ofTransaction: id).isEmpty
            }
            if !unfiled.isEmpty { read.refuse(document, .notFiled(of: mapping), rows: Set(unfiled)) }
        } else if contradicted.isEmpty, Self.isIncomplete(sets, of: mapping) {
            read.refuse(document, .notFiled(of: mapping))
        }
        guard !sets.isEmpty else { return }
        additions.facts += sets
        for owned in document.owned {
            claim(filedRows.sets(ofTransaction: owned.payload.transactionId), beside: owned.document.carried)
        }
        if document.owned.isEmpty { claim(sets, beside: document.document.carried) }
        read.recorded.append(document)
    }

    /// Whether the facts for a store lack something that a document states.
    private static func isIncomplete(_ sets: [FactSet], of mapping: RecordedMapping) -> Bool {
        let filed = sets.reduce(0) { $0 + $1.transactions.count + $1.renewalInfos.count }
        let isAppUnfiled = sets.isEmpty && mapping.appTransaction != nil
        return filed < mapping.transactions.count + mapping.renewalInfos.count || isAppUnfiled
    }
}
