/// The page of `report`, for Mustache. Values from documents stand only between tags, where Mustache escapes them; attributes
/// hold numbers.
enum ReportTemplate {
    static let page = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>Purchases on {{day}}</title>
        <style>
        :root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--faint:#5a6472;--line:#d9dee5;--panel:#f5f7f9;--active:#1d6fd8;--started:#1a7f4b;--ended:#b8432f}
        @media (prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ed;--faint:#a0a9b4;--line:#343b44;--panel:#1d2127;--active:#6aa9ff;--started:#57c48a;--ended:#f08a76}}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.25rem 1rem 3rem;max-width:62rem;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
        h2{font-size:1.2rem;margin:2.25rem 0 .5rem}
        p{margin:.4rem 0}
        .faint,caption{color:var(--faint)}
        .cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.6rem;margin:.8rem 0}
        .card{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .75rem}
        .card b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
        .tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 2rem;align-items:start}
        .wide{grid-column:1/-1}
        table{border-collapse:collapse;width:100%;margin:.6rem 0;table-layout:auto}
        caption{text-align:left;padding:.2rem 0}
        th,td{text-align:left;vertical-align:top;padding:.25rem .5rem .25rem 0;border-bottom:1px solid var(--line);font-weight:400;overflow-wrap:anywhere}
        thead th{color:var(--faint);font-size:.85rem;overflow-wrap:normal}
        .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;overflow-wrap:normal;padding-right:.6rem}
        .bar{width:24%;padding-right:0}
        svg{display:block;width:100%}
        .bar svg{height:.8rem;margin-top:.35rem}
        .fill-active{fill:var(--active)}.fill-started{fill:var(--started)}.fill-ended{fill:var(--ended)}
        .axis{stroke:var(--line)}
        .label{color:var(--faint);font-size:.85rem;margin:.3rem 0}
        .ends{display:flex;justify-content:space-between}
        .key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.9rem;color:var(--faint)}
        .key svg{display:inline-block;width:.8rem;height:.8rem;margin-right:.35rem}
        summary{cursor:pointer}
        code,pre{font-family:ui-monospace,monospace;font-size:.88rem;overflow-wrap:anywhere}
        pre{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .75rem;white-space:pre-wrap;margin:.4rem 0}
        @media print{body{max-width:none;padding:0;font-size:11pt}h2{break-after:avoid}tr,.card,figure,pre{break-inside:avoid}}
        figure{margin:.6rem 0}
        </style>
        </head>
        <body>
        <header>
        <h1>Purchases</h1>
        <p class="faint"><code>{{store}}</code>, as of {{moment}}</p>
        </header>
        <main>
        {{#sections}}
        <section>
        <h2>{{heading}}</h2>
        {{#note}}<p class="faint">{{note}}</p>{{/note}}
        {{#hasCards}}<div class="cards">{{#cards}}<div class="card"><b>{{number}}</b>{{label}}</div>{{/cards}}</div>{{/hasCards}}
        {{#chart}}
        <figure>
        <div class="key"><span><svg viewBox="0 0 8 8" aria-hidden="true"><rect class="fill-active" width="8" height="8"/></svg>active at the end of the month</span><span><svg viewBox="0 0 8 8" aria-hidden="true"><rect class="fill-started" width="8" height="8"/></svg>started</span><span><svg viewBox="0 0 8 8" aria-hidden="true"><rect class="fill-ended" width="8" height="8"/></svg>ended</span></div>
        <p class="label">{{highest}} active</p>
        <svg viewBox="0 0 640 121" role="img"><title>Active subscriptions by month; the table below has the numbers</title>{{#columns}}<rect class="fill-active" x="{{x}}" y="{{activeY}}" width="{{width}}" height="{{activeHeight}}"/>{{/columns}}<line class="axis" x1="0" x2="640" y1="120.5" y2="120.5"/></svg>
        <p class="label">{{highestChange}} started or ended in a month</p>
        <svg viewBox="0 0 640 61" role="img"><title>Subscriptions that started and ended by month; the table below has the numbers</title>{{#columns}}<rect class="fill-started" x="{{x}}" y="{{startedY}}" width="{{half}}" height="{{startedHeight}}"/><rect class="fill-ended" x="{{middle}}" y="{{endedY}}" width="{{half}}" height="{{endedHeight}}"/>{{/columns}}<line class="axis" x1="0" x2="640" y1="60.5" y2="60.5"/></svg>
        <p class="label ends"><span>{{firstMonth}}</span><span>{{lastMonth}}</span></p>
        </figure>
        {{/chart}}
        <div class="tables">
        {{#tables}}
        <div{{#isWide}} class="wide"{{/isWide}}>
        {{#folded}}<details><summary>{{folded}}</summary>{{/folded}}
        <table>
        {{#caption}}<caption>{{caption}}</caption>{{/caption}}
        <thead><tr><th scope="col">{{first}}</th>{{#heads}}<th scope="col" class="number">{{head}}</th>{{/heads}}{{#texts}}<th scope="col">{{text}}</th>{{/texts}}{{#hasBars}}<td class="bar"></td>{{/hasBars}}</tr></thead>
        <tbody>
        {{#rows}}<tr><th scope="row">{{name}}</th>{{#values}}<td class="number">{{value}}</td>{{/values}}{{#cells}}<td>{{cell}}</td>{{/cells}}{{#bar}}<td class="bar"><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="fill-active" width="{{length}}" height="10"/></svg></td>{{/bar}}</tr>
        {{/rows}}</tbody>
        </table>
        {{#folded}}</details>{{/folded}}
        </div>
        {{/tables}}
        </div>
        {{#commands}}<p>{{purpose}}</p><pre>{{command}}</pre>
        {{/commands}}
        </section>
        {{/sections}}
        </main>
        </body>
        </html>

        """#
}
