import AppStoreModels
import ProductCatalog

extension CatalogProduct {
    /// The provenance of a field that the catalog gave: where the fact stands.
    func provenance(of field: CatalogField) -> Provenance {
        .catalog(source(of: field)?.description ?? "")
    }

    /// The offer that a transaction with these marks had, if the catalog leaves no choice.
    ///
    /// A catalog tells today's offers, and an introductory offer has no name in a receipt: where several fit, none is
    /// taken.
    func onlyOffer(_ type: OfferType, _ identifier: String?, isTrial: Bool) -> CatalogOffer? {
        let fitting = offers.filter { offer in
            guard offer.type == type, isTrial == (offer.paymentMode == .freeTrial) else { return false }
            guard type != .introductory else { return true }
            // An offer code is recorded by its reference name, which a catalog may hold under either name.
            return offer.identifier == identifier || (type == .offerCode && offer.referenceName == identifier)
        }
        return fitting.count == 1 ? fitting[0] : nil
    }
}
