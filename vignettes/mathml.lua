-- MathML without the TeX source that pandoc puts beside each formula: a fifth of the page. Older versions of pandoc,
-- which cannot write one element, leave formulas to the option --mathml.
local function written(math)
  local html = pandoc.write(pandoc.Pandoc({pandoc.Plain({math})}), 'html', {html_math_method = 'mathml'})
  html = html:gsub('<annotation.-</annotation>', '')
  html = html:gsub('</?semantics>', '')
  html = html:gsub(' xmlns="http://www.w3.org/1998/Math/MathML"', '')
  html = html:gsub(' display="inline"', '')
  return pandoc.RawInline('html', html)
end

function Math(math)
  local done, html = pcall(written, math)
  if done then return html end
end
