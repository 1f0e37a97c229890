import AppStoreModels
import ProductCatalog

extension CatalogProduct {
    /// The provenance of a field from the catalog: the catalog entry that states it.
    func provenance(of field: CatalogField) -> Provenance {
        .catalog(source(of: field)?.description ?? "")
    }

    /// The catalog's offer that a transaction with these values had; nil unless exactly one offer fits.
    ///
    /// A catalog lists today's offers, and a receipt does not name an introductory offer.
    func onlyOffer(_ type: OfferType, _ identifier: String?, isTrial: Bool) -> CatalogOffer? {
        let fitting = offers.filter { offer in
            guard offer.type == type, isTrial == (offer.paymentMode == .freeTrial) else { return false }
            guard type != .introductory else { return true }
            // A recorded offer code has its reference name, which a catalog can contain as identifier or as reference
            // name.
            return offer.identifier == identifier || (type == .offerCode && offer.referenceName == identifier)
        }
        return fitting.count == 1 ? fitting[0] : nil
    }
}
