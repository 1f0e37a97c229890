/// The page of the inspector, for Mustache. Values from documents are only between tags, where Mustache escapes them.
/// Attributes contain numbers, names of tables, and the id of the request, which Mustache escapes too.
enum InspectorTemplate {
    static let style = #"""
        :root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--faint:#5a6472;--line:#d9dee5;--panel:#f5f7f9;--paid:#1d6fd8;--upgraded:#8a6d1a;--revoked:#b8432f;--good:#1a7f4b}
        @media (prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ed;--faint:#a0a9b4;--line:#343b44;--panel:#1d2127;--paid:#6aa9ff;--upgraded:#d9b44a;--revoked:#f08a76;--good:#57c48a}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.25rem 1rem 3rem;max-width:62rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
        h2{font-size:1.2rem;margin:2rem 0 .4rem;overflow-wrap:anywhere}
        form{margin:1rem 0;padding:.75rem;background:var(--panel);border:1px solid var(--line);border-radius:.5rem}
        label{display:block;font-weight:600}
        textarea,input{width:100%;margin:.4rem 0;padding:.5rem;border:1px solid var(--faint);border-radius:.35rem;background:var(--back);color:inherit;font:.9rem/1.4 ui-monospace,monospace}
        button{padding:.45rem 1rem;border:1px solid var(--paid);border-radius:.35rem;background:var(--paid);color:var(--back);font:inherit;font-weight:600;cursor:pointer}
        :focus-visible{outline:3px solid var(--paid);outline-offset:2px}
        .faint,caption,.ends{color:var(--faint)}
        .verdict{font-weight:600;color:var(--good)}.failure{color:var(--revoked)}
        .scroll{overflow-x:auto}
        table{border-collapse:collapse;min-width:100%;margin:.6rem 0}
        caption{text-align:left;padding:.2rem 0}
        th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);font-weight:400;font-size:.9rem;overflow-wrap:anywhere;min-width:7rem}
        thead th{color:var(--faint);font-size:.85rem;white-space:nowrap}
        figure{margin:.6rem 0}
        svg{display:block;width:100%}
        .paid{fill:var(--paid)}.upgraded{fill:var(--upgraded)}.revoked{fill:var(--revoked)}.now{stroke:var(--text);stroke-dasharray:3 3}
        .ends{display:flex;justify-content:space-between;font-size:.85rem;margin:.2rem 0}
        summary{cursor:pointer}
        pre{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .75rem;white-space:pre-wrap;overflow-wrap:anywhere;font:.85rem/1.45 ui-monospace,monospace;margin:.4rem 0}
        """#

    /// Reads a file that is chosen or dropped into the text field: text as it is, because only receipts may be base64, and bytes
    /// as base64. Without it, documents are pasted.
    static let script = #"""
        const field = document.getElementById("document"), file = document.getElementById("file");
        const text = (bytes) => {
          try {
            const decoded = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
            if (!decoded.includes("\0")) return decoded;
          } catch {}
          return btoa(bytes.reduce((binary, byte) => binary + String.fromCharCode(byte), ""));
        };
        const read = (chosen) => {
          if (!chosen) return;
          const reader = new FileReader();
          reader.onload = () => { field.value = text(new Uint8Array(reader.result)); field.focus(); };
          reader.readAsArrayBuffer(chosen);
        };
        document.getElementById("files").hidden = false;
        file.addEventListener("change", () => read(file.files[0]));
        field.addEventListener("dragover", (event) => event.preventDefault());
        field.addEventListener("drop", (event) => {
          if (!event.dataTransfer.files.length) return;
          event.preventDefault();
          read(event.dataTransfer.files[0]);
        });
        """#

    static let page = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{#title}}{{title}} – {{/title}}Inspector</title>
        <style>{{{style}}}</style>
        </head>
        <body>
        <header><h1>Inspector</h1></header>
        <main>
        <form method="post" action="/">
        <label for="document">A receipt, JWS, notification, request or reply</label>
        <textarea id="document" name="document" rows="5" required autocomplete="off" spellcheck="false"></textarea>
        <p id="files" hidden><label for="file">Or a file; you can also drop it above</label><input id="file" type="file"></p>
        <button>Inspect</button>
        </form>
        <form method="post" action="/">
        <label for="id">Any id of a customer: transaction, account token, appTransactionId, your user id</label>
        <input id="id" name="id" value="{{id}}" required autocomplete="off" spellcheck="false">
        <button>Look up</button>
        </form>
        {{#blocks}}
        {{#heading}}<h2>{{heading}}</h2>
        {{#text}}<p class="verdict{{#isFailure}} failure{{/isFailure}}">{{text}}</p>{{/text}}{{/heading}}
        {{#timeline}}<figure>
        <svg viewBox="0 0 640 {{height}}" role="img" aria-label="Timeline of the subscriptions; the table below has the dates">
        {{#bars}}<rect class="{{class}}" x="{{x}}" y="{{y}}" width="{{width}}" height="{{height}}"><title>{{title}}</title></rect>
        {{/bars}}<line class="now" x1="{{now}}" x2="{{now}}" y1="0" y2="{{height}}"/></svg>
        <p class="ends"><span>{{from}}</span><span>{{to}}</span></p>
        </figure>{{/timeline}}
        {{#table}}<div class="scroll" tabindex="0" role="region" aria-label="{{caption}}"><table>
        <caption>{{caption}}</caption>
        <thead><tr>{{#columns}}<th scope="col">{{column}}</th>{{/columns}}</tr></thead>
        <tbody>{{#rows}}<tr>{{#cells}}<td>{{cell}}</td>{{/cells}}</tr>
        {{/rows}}</tbody></table></div>{{/table}}
        {{#folded}}<details><summary>{{folded}}</summary><pre>{{pre}}</pre></details>{{/folded}}
        {{/blocks}}
        </main>
        <script>{{{script}}}</script>
        </body>
        </html>

        """#
}
